import { join } from 'node:path'
import { entriesIn } from '../../files/folder-names.ts'
import type { Keeper } from '../../files/replace-seen.ts'
import { uniqueHex } from '../../files/temp-files.ts'

/** One file of a case, by its path relative to the case's folder. */
export interface FileOfCase {
  id: string
  file: string
}

/**
 * Who looks after the files that writes displace: one keeper for each write onto a file that holds `expect`,
 * with its hash where that is at hand.
 */
export interface Keepers {
  keeperOf(of: FileOfCase, expect: Buffer, hash?: string): Keeper
}

/** What a pre-image is of, and the hash that its bytes had when it lost its name. */
export interface PreImage extends FileOfCase {
  path: string
  hash: string
}

/** A free name in the folder of pre-images that tells all this after a crash. */
export function preImagePath(folder: string, { id, file }: FileOfCase, hash: string): string {
  return join(folder, [id, ...file.split('/'), hash, uniqueHex()].join(SEPARATOR))
}

export async function preImagesIn(folder: string): Promise<PreImage[]> {
  return (await entriesIn(folder)).flatMap((name) => {
    const parts = NAME.exec(name)
    if (!parts) return []
    const [, id, file, hash] = parts as unknown as [string, string, string, string]
    return { path: join(folder, name), id, file: file.replaceAll(SEPARATOR, '/'), hash }
  })
}

/** No name of a file of a case has it. */
const SEPARATOR = '+'
const NAME =
  /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\+((?:(?:sessions|proof)\+)?[A-Za-z0-9][A-Za-z0-9._-]*)\+([0-9a-f]{64})\+[0-9a-f]{12}$/
