/** Edits a file for `casefile doctor --fix` without touching its other lines. */

import { writeDurable } from '../files/durable-write.ts'
import { decodeUtf8, readRegular } from '../files/safe-read.ts'

/**
 * Applies an edit to the current text of a file. Returns false if the file is not readable text or the edit changes
 * nothing. Throws `changed_meanwhile` if somebody saves the file at the same time.
 */
export async function editText(
  path: string,
  place: { maxBytes: number; within: string },
  edit: (text: string) => string | Promise<string>,
): Promise<boolean> {
  const read = await readRegular(path, place)
  const text = read.ok ? decodeUtf8(read.bytes) : null
  if (!read.ok || !text?.ok) return false
  const edited = await edit(text.text)
  if (edited === text.text) return false
  await writeDurable(path, Buffer.from(edited), { expect: read.bytes, within: place.within })
  return true
}
