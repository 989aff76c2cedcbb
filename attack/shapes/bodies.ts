import { type Body, form } from "../client.ts";
import { each, numbers, type Shape } from "../scene.ts";

/** Repeats a piece until the text has so many bytes. */
function filled(head: string, piece: string, tail: string, bytes: number): string {
  return head + piece.repeat(Math.floor((bytes - head.length - tail.length) / piece.length)) + tail;
}

function wide(bytes: number): string {
  const keys: string[] = [];
  for (let index = 0, length = 0; length < bytes - 40; index += 1) {
    const key = `"k${index}":0`;
    keys.push(key);
    length += key.length + 1;
  }
  return `{${keys.join(",")}}`;
}

/** Makes JSON bodies of so many bytes that are expensive to read. */
function hostileJson(bytes: number): Record<string, string> {
  return {
    deep: filled("", "[", "", bytes),
    "deep and whole": filled("", "[", "", bytes / 2) + "]".repeat(bytes / 2),
    "deep objects": filled("", '{"a":', "", bytes),
    wide: wide(bytes),
    "one key again and again": filled("{", '"a":1,', '"a":1}', bytes),
    "many numbers": filled('{"artifacts":[', "1e9,", "1]}", bytes),
    "long numbers": filled('{"artifacts":[', `${"9".repeat(1000)}.5,`, "1]}", bytes),
    "one long number": filled("", "9", "", bytes),
    "all wrong": filled('{"artifacts":[', '{"digests":{"a":"b"},"creationTimestamp":"x"},', "{}]}", bytes),
    "many empty objects": filled('{"artifacts":[', "{},", "{}]}", bytes),
    "a text of escapes": filled('{"name":"', "\\u0041", '"}', bytes),
    "one long text": filled('{"name":"', "x", '"}', bytes),
    blanks: filled("", " ", "1", bytes),
  };
}

const paths: [string, (org: string) => string][] = [
  ["PUT", (org) => `/environments/${org}/bodies/report/server`],
  ["PUT", (org) => `/environments/${org}`],
  ["POST", (org) => `/artifacts/${org}/bodies`],
];

const largeJson: Shape = {
  name: "json-bodies",
  what: "bodies of 12 MB of JSON: deep, wide, of numbers, all wrong; eight at once",
  peakLimit: 600,
  prepare: async (scene) => {
    await scene.createEnvironment("bodies");
    const bodies = Object.values(hostileJson(scene.scale.bodyBytes)).map((text): Body => ({
      type: "application/json",
      bytes: Buffer.from(text),
    }));
    return async () => {
      const sent = bodies.flatMap((body, at) =>
        Array.from({ length: scene.scale.bodyPaths }, (_, nth) => {
          const [method, path] = paths[(at + nth) % paths.length]!;
          return { body, method, path };
        }),
      );
      await each(sent, scene.scale.bodies, ({ body, method, path }) =>
        scene.client.poke(method, path(scene.org), { body }),
      );
    };
  },
};

const freeJson: Shape = {
  name: "free-json",
  long: true,
  what: "attestations with 10 MB of free JSON: deep, wide, of numbers; four at once",
  peakLimit: 600,
  prepare: async (scene) => {
    await scene.flow("free", "version: 1\n");
    const values = Object.entries(hostileJson(scene.scale.bodyBytes * 0.8)).filter(
      ([name]) => name !== "all wrong",
    );
    return async () => {
      await each(values, 4, async ([, value]) => {
        const data = `{"attestation_name":"free","is_compliant":true,"user_data":${value}}`;
        await scene.attest("free", "run", "generic", data).catch(() => undefined);
      });
    };
  },
};

const boundary = "waybill-parts";

/** Makes a form of as many parts as fit into so many bytes. */
function manyParts(bytes: number, part: string): Body {
  const piece = `--${boundary}\r\n${part}\r\n`;
  const text = piece.repeat(Math.floor(bytes / piece.length));
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    bytes: Buffer.from(`${text}--${boundary}--\r\n`),
  };
}

const parts: Shape = {
  name: "multipart",
  long: true,
  what: "forms of 20 MB in a hundred thousand parts, with endless headers, never ended; eight at once",
  peakLimit: 400,
  prepare: async (scene) => {
    await scene.flow("parts", "version: 1\n");
    const bytes = scene.scale.bodyBytes * 1.7;
    const bodies = [
      manyParts(bytes, 'content-disposition: form-data; name="data_json"\r\n\r\n{}'),
      manyParts(bytes, 'content-disposition: form-data; name="x"; filename="y"\r\n\r\nz'),
      manyParts(bytes, "content-disposition: form-data\r\n\r\n"),
      manyParts(bytes, `content-disposition: form-data; name="${"n".repeat(5000)}"\r\n\r\n`),
      manyParts(bytes, `x-${"a".repeat(60_000)}: b\r\n\r\n`),
      manyParts(bytes, `${"x: y\r\n".repeat(2000)}\r\n`),
      { type: `multipart/form-data; boundary=${boundary}`, bytes: Buffer.alloc(bytes, "\r\n--waybill-part") },
      form({ data_json: "[".repeat(scene.scale.bodyBytes * 0.8) }),
    ];
    return async () => {
      const path = `/attestations/${scene.org}/parts/trail/run/generic`;
      await each(bodies, scene.scale.bodies, (body) => scene.client.poke("POST", path, { body }));
    };
  },
};

/** Makes expensive query strings, as long as a head may be. */
function hostileQueries(org: string): string[] {
  const many = (piece: string): string => piece.repeat(Math.floor(14_000 / piece.length));
  return [
    `/environments/${org}?${many("tag=a:b&")}`,
    `/environments/${org}?name=${many("%25_")}&per_page=50`,
    `/environments/${org}?${many("a[b][c]=1&")}`,
    `/environments/${org}?${many("&")}`,
    `/environments/${org}?${many("type=K8S&")}per_page=50`,
    `/flows/${org}?search_by_name=${many("%5C%25")}`,
    `/flows/${org}?${many("tag=a:b&")}per_page=50`,
    `/attestations/${org}?name_regex=${"(a{1,30}){1,30}".repeat(20)}`,
    `/attestations/${org}?name_regex=${many("(")}`,
    `/attestations/${org}?${many("flow=large-flow&")}`,
    `/attestations/${org}/list_attestations_for_criteria?${many(`commit_list=${"a1".repeat(20)}&`)}`,
    `/trails/${org}?${many("flow_tag=a:b&")}per_page=50`,
    `/trails/${org}?${many("flow=large-flow&")}per_page=50`,
    `/repos/${org}?search=${many("%F0%9F%98%80")}`,
    `/search/${org}/sha/${many("ab")}`,
    `/builds/${org}?page=1000000&per_page=50`,
    `/audit-log/${org}?resource=${many("%25")}&per_page=50`,
  ];
}

const queries: Shape = {
  name: "queries",
  long: true,
  what: "query strings of 14 KB: repeated, escaped, with regular expressions; six of each at once",
  peakLimit: 150,
  prepare: async (scene) => {
    await scene.largeTrail();
    return async () => {
      const every = numbers(scene.scale.readers).flatMap(() => hostileQueries(scene.org));
      await each(every, scene.scale.readers * 2, (path) => scene.client.poke("GET", path));
    };
  },
};

/** Shapes of bodies and query strings. */
export const bodyShapes: Shape[] = [largeJson, freeJson, parts, queries];
