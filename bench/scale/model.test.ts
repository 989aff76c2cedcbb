import fc from "fast-check";
import { expect, it } from "vitest";

import { at, lineThrough, predict } from "./model.ts";

const number = fc.double({ min: -1e6, max: 1e6, noNaN: true });

it("finds the line that points lie on", () => {
  fc.assert(
    fc.property(number, number, (base, each) => {
      const points = [3e4, 1e5, 3e5].map((builds) => ({ builds, value: base + each * builds }));
      const line = lineThrough(points);
      expect(Math.abs(at(line, 1e6) - (base + each * 1e6))).toBeLessThan(1e-3 * (1 + Math.abs(each * 1e6)));
    }),
  );
});

it("says which figure is off by more than 30 %", () => {
  const figures = (size: number) => ({ bytes: 10 + size * 3, time: size < 4 ? 5 : 50 });
  const sizes = [4, 1, 2, 3].map((builds) => ({ builds, figures: figures(builds) }));
  expect(predict(sizes).map(({ figure, failed }) => [figure, failed])).toEqual([
    ["bytes", false],
    ["time", true],
  ]);
});

it("predicts nothing from one size, or of figures that some sizes lack", () => {
  expect(
    predict([
      { builds: 1, figures: { a: 1 } },
      { builds: 2, figures: { a: 1 } },
    ]),
  ).toEqual([]);
  const sizes = [
    { builds: 1, figures: {} },
    { builds: 2, figures: { a: 1 } },
    { builds: 3, figures: { a: 1 } },
  ];
  expect(predict(sizes)).toEqual([]);
});
