/**
 * Has a page begin anew for another thing of its kind: what was asked, opened or written for one is not for the other.
 * @param name the part of the address that says which thing it is.
 */
export const anewFor =
  <Name extends string>(name: Name) =>
  ({ params }: { params: Record<Name, string> }): string =>
    params[name];
