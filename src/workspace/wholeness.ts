/**
 * What the content of a changed file looks like: `ended` where it ends as it did before the change, so
 * that all of it is there; `whole`; `cut` where it has lost the line end that closed it; `broken` where
 * it is empty or cannot be read.
 */
export type Wholeness = 'ended' | 'whole' | 'cut' | 'broken'

const ENDING = 40

/** The last characters of a text: a copy, as a slice would keep the whole text in memory. */
export function endingOf(text: string): string {
  return Buffer.from(text.slice(-ENDING)).toString()
}

/** Of a text that can be read, by its ending and by that which was known; a new file has none. */
export function wholenessOf(ending: string, known: string | undefined): Wholeness {
  if (ending === known) return 'ended'
  return isClosed(ending) || (known !== undefined && !isClosed(known)) ? 'whole' : 'cut'
}

function isClosed(ending: string): boolean {
  return /[\r\n]$/.test(ending)
}
