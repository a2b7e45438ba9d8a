/** A file of one version of a case folder. */
export interface MergeFile {
  /** As in git: `100644`, `100755`, or `120000` for a symbolic link. */
  mode: string
  /** The same id means the same content. */
  id: string
  read(): Promise<Uint8Array>
}

/** A file that the merge has written. */
export interface NewFile {
  mode: string
  bytes: Uint8Array
}

export type MergedFile = MergeFile | NewFile

/** The files of a folder by their path in it, with forward slashes. */
export type Folder = ReadonlyMap<string, MergeFile>

export const SIDES = ['base', 'ours', 'theirs'] as const
export type Side = (typeof SIDES)[number]
export type FolderVersions = Record<Side, Folder>

export const PLAIN = '100644'

export function isRegular({ mode }: { mode: string }): boolean {
  return mode.startsWith('100')
}

export async function bytesOf(file: MergedFile): Promise<Uint8Array> {
  return 'bytes' in file ? file.bytes : file.read()
}

/** The text of a file; null if it is no regular file or not UTF-8. A BOM is part of the text. */
export async function textOf(file: MergeFile | undefined): Promise<string | null> {
  if (!file || !isRegular(file)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await file.read())
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

export function textFile(text: string, mode = PLAIN): NewFile {
  return { mode, bytes: Buffer.from(text) }
}

export function sameFile(a: MergeFile | undefined, b: MergeFile | undefined): boolean {
  return a?.id === b?.id && a?.mode === b?.mode
}

/** The mode that only one side changed; ours if both did. */
export function modeOf(versions: Partial<Record<Side, MergeFile>>): string {
  const { base, ours, theirs } = versions
  const isOurs = theirs === undefined || ours?.mode !== base?.mode
  return (isOurs ? ours?.mode : theirs.mode) ?? theirs?.mode ?? PLAIN
}
