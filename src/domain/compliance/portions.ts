/** How many reports, rows of verdicts, or things that a template asks for are looked at in one go: it takes less than a millisecond. */
export const inOneGo = 500;

/** Says whether so many are looked at in one go. */
export function areFew(count: number): boolean {
  return count <= inOneGo;
}

/** Makes a function that is told what is going to be done, and says when that is enough for a stop before it. */
export function portions(): (count: number) => boolean {
  let done = 0;
  return (count) => {
    done += count;
    if (done <= inOneGo) return false;
    done = count;
    return true;
  };
}
