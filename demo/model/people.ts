import type { Role } from "../../src/domain/roles.ts";
import { createRandom } from "./random.ts";

/** Somebody who works there. */
export interface Person {
  /** Login name, without the organization's prefix. */
  name: string;
  display_name: string;
  email: string;
  role: Role;
}

/** Reserved for examples (RFC 2606): no mail and no request ever reaches anybody. */
export const companyDomain = "harborlight.example";

const firstNames = (
  "Ada Amir Anouk Bela Bruno Carla Chidi Dana Dmitri Elif Emeka Esther Farah Felix Greta Hiro Ines Ivan " +
  "Jonas Julia Kemal Lena Liam Mei Milan Nadia Noor Olga Omar Paula Priya Quentin Rosa Ruben Saskia Tariq Una Vera Wei Yusuf Zoe"
).split(" ");

const lastNames = (
  "Adeyemi Bauer Berg Castro Diaz Eriksen Fischer Garcia Haddad Ito Jansen Kaya Kowalski Laurent Lindqvist " +
  "Marin Mensah Nakamura Novak Okafor Petrov Quist Rossi Sato Silva Tanaka Varga Weber Yilmaz Zhang"
).split(" ");

const roles: Role[] = ["admin", "admin", "snapshotter", "reader", "reader"];

/** People with different names; the first few run the place, watch or audit, everybody else delivers. */
export function makePeople(seed: string, count: number): Person[] {
  const random = createRandom(`${seed}/people`);
  const first = random.shuffled(firstNames);
  const last = random.shuffled(lastNames);
  return first.slice(0, count).map((given, index) => {
    const family = last[index % last.length] as string;
    return {
      name: given.toLowerCase(),
      display_name: `${given} ${family}`,
      email: `${given}.${family}@${companyDomain}`.toLowerCase(),
      role: roles[index] ?? "member",
    };
  });
}
