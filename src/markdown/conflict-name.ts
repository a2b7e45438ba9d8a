/** Leaves room for the suffix in the 255 bytes of a file name. */
const MAX_STEM_BYTES = 200
const EXTENSION = /(?<=.)\.[A-Za-z0-9]{1,16}$/

/**
 * The name of a conflict copy, for a version that could not be merged (`isConflictCopy` recognizes it): `case.md` becomes `case.conflict-20261120T095400.000Z.md`; `time` is ISO 8601 UTC
 * with milliseconds.
 */
export function conflictName(file: string, time: string, count = 1): string {
  const extension = EXTENSION.exec(file)?.[0] ?? ''
  const characters = [...file.slice(0, file.length - extension.length)]
  while (Buffer.byteLength(characters.join('')) > MAX_STEM_BYTES) characters.pop()
  const stem = characters.join('')
  const nth = count === 1 ? '' : `-${count}`
  return `${stem}.conflict-${time.replaceAll(/[-:]/g, '')}${nth}${extension.toLowerCase()}`
}
