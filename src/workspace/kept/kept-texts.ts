import { createKeptFile, type KeptFile, openKeptFile, readKeptFile } from './kept-file.ts'

/** The last good texts of record files, by case; what is damaged is not there. */
export interface KeptTexts {
  /**
   * Puts the fresh texts beside those that stand at `before`, as far as the case still has files of these names;
   * says where all of them stand now.
   */
  keep(
    id: string,
    names: readonly string[],
    fresh: Readonly<Record<string, string>>,
    before: number | undefined,
  ): number
  read(id: string, at: number): Record<string, string> | null
  readonly size: number
  /** How many bytes the texts at a place take; 0 where there are none. */
  sizeOf(id: string, at: number): number
  /** Appends the texts at a place to another file, and says where they stand there. */
  copyTo(other: KeptTexts, id: string, at: number): number
  /** Takes the place of another file, under its name. */
  replace(path: string): void
  close(): void
}

/** They are good for any program. */
const TITLE = JSON.stringify(['casefile texts', 1])

/** `found` is told where the texts of which case stand, the newest last; without it that must be known. */
export function openKeptTexts(
  path: string,
  found: ((id: string, at: number) => void) | null,
): KeptTexts {
  return textsIn(openKeptFile(path, TITLE, found && ((at, id) => found(id.toString(), at))))
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
    keep(id, names, fresh, before = -1) {
      const known = names.every((name) => name in fresh) ? null : read(id, before)
      const isSame = Object.entries(fresh).every(([name, text]) => known?.[name] === text)
      if (known && isSame && Object.keys(known).length === names.length) return before
      const found = names.map((name) => [name, fresh[name] ?? known?.[name]] as const)
      const texts = Object.fromEntries(found.filter(([, text]) => text !== undefined))
      return file.append([Buffer.from(id), Buffer.from(JSON.stringify(texts))])
    },
    read,
    get size() {
      return file.size
    },
    sizeOf: (id, at) => (read(id, at) ? file.sizeOf(at) : 0),
    copyTo(other, id, at) {
      const texts = read(id, at)
      return texts ? other.keep(id, Object.keys(texts), texts, undefined) : -1
    },
    replace: file.replace,
    close: () => file.close(),
  }
}
