/** Version of the program that the pages were built with. */
declare const __VERSION__: string;

declare module "*.module.css" {
  const classes: Readonly<Record<string, string>>;
  export = classes;
}
declare module "*.css";
declare module "*.svg" {
  const address: string;
  export default address;
}

/** Says that a part of the app did not arrive, and what that failed with. */
interface WindowEventMap {
  "vite:preloadError": Event & { payload: Error };
}
