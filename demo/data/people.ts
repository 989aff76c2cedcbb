import type { Role } from "../../src/domain/roles.ts";

/** First names of employees. */
export const firstNames = (
  "Ada Amir Anouk Bela Bruno Carla Chidi Dana Dmitri Elif Emeka Esther Farah Felix Greta Hiro Ines Ivan " +
  "Jonas Julia Kemal Lena Liam Mei Milan Nadia Noor Olga Omar Paula Priya Quentin Rosa Ruben Saskia Tariq Una Vera Wei Yusuf Zoe"
).split(" ");

/** Last names of employees. */
export const lastNames = (
  "Adeyemi Bauer Berg Castro Diaz Eriksen Fischer Garcia Haddad Ito Jansen Kaya Kowalski Laurent Lindqvist " +
  "Marin Mensah Nakamura Novak Okafor Petrov Quist Rossi Sato Silva Tanaka Varga Weber Yilmaz Zhang"
).split(" ");

/** Roles of the first few employees, who run the place, watch or audit; all others are members. */
export const leadingRoles: readonly Role[] = ["admin", "admin", "snapshotter", "reader", "reader"];
