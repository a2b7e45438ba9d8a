import { createKeptFile, type KeptFile, openKeptFile, readKeptFile } from './kept-file.ts'

/** The last good texts of record files, by case; what is damaged is not there. */
export interface KeptTexts {
  /**
   * Puts the fresh texts beside those that stand at `before`, as far as the case still has files of these names;
   * says where all of them stand now. `before` is asked if needed.
   */
  keep(
    id: string,
    names: readonly string[],
    fresh: Readonly<Record<string, string>>,
    before: () => number | undefined,
  ): number
  /** Puts these, which are all that the case has, as JSON; says where they stand. */
  add(id: string, texts: string): number
  read(id: string, at: number): Record<string, string> | null
  /** Where the newest texts of each case stand: the whole file is read. */
  places(): Map<string, number>
  readonly size: number
  /** How many bytes the texts at a place take; 0 where there are none. */
  sizeOf(id: string, at: number): number
  /** Appends the texts at a place to another file, and says where they stand there. */
  copyTo(other: KeptTexts, id: string, at: number): number
  /** Takes the place of another file, under its name. */
  replace(path: string): void
  flush(): void
  close(): void
  discard(): void
}

/** They are good for any program. */
const TITLE = JSON.stringify(['casefile texts', 1])

export function openKeptTexts(path: string): KeptTexts {
  return textsIn(openKeptFile(path, TITLE, null))
}

/** In place of what is there. */
export function createKeptTexts(path: string): KeptTexts {
  return textsIn(createKeptFile(path, TITLE))
}

/** Of texts that are there, to be read alone; null where there are none. */
export function readKeptTexts(path: string): KeptTexts | null {
  const file = readKeptFile(path, TITLE, null)
  return file && textsIn(file)
}

function textsIn(file: KeptFile): KeptTexts {
  function read(id: string, at: number): Record<string, string> | null {
    const [owner, texts] = file.readSure(at) ?? []
    if (!owner || !texts || owner.toString() !== id) return null
    return JSON.parse(texts.toString())
  }

  return {
    keep(id, names, fresh, placeBefore) {
      const before = names.every((name) => name in fresh) ? -1 : (placeBefore() ?? -1)
      const known = read(id, before)
      const isSame = Object.entries(fresh).every(([name, text]) => known?.[name] === text)
      if (known && isSame && Object.keys(known).length === names.length) return before
      const found = names.map((name) => [name, fresh[name] ?? known?.[name]] as const)
      const texts = Object.fromEntries(found.filter(([, text]) => text !== undefined))
      return file.append([id, JSON.stringify(texts)])
    },
    add: (id, texts) => file.append([id, texts]),
    read,
    places() {
      const found = new Map<string, number>()
      file.each((at, id) => found.set(id.toString(), at))
      return found
    },
    get size() {
      return file.size
    },
    sizeOf: (id, at) => (read(id, at) ? file.sizeOf(at) : 0),
    copyTo(other, id, at) {
      const texts = read(id, at)
      return texts ? other.keep(id, Object.keys(texts), texts, () => undefined) : -1
    },
    replace: file.replace,
    flush: file.flush,
    close: file.close,
    discard: file.discard,
  }
}
