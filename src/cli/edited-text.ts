import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeUtf8 } from '../files/safe-read.ts'
import { AppError } from '../model/app-error.ts'
import { editFile } from './editor.ts'

/**
 * Opens a text in the person's editor, in a file of its own, and passes the edited text to `use`. Removes the file
 * after `use`. If the editor or `use` fails, the file stays, and `kept` gets its path.
 */
export async function withEdited(
  text: string,
  { name, signal, kept }: { name: string; signal: AbortSignal; kept: (path: string) => void },
  use: (edited: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'casefile-edit-'))
  const path = join(folder, name)
  await writeFile(path, text, { mode: 0o600 })
  let isDone = false
  try {
    await editFile(path, signal)
    await use(textOf(await readFile(path)))
    isDone = true
  } finally {
    const written = isDone ? null : await writtenIn(folder, name, text)
    if (written !== null) kept(written)
    else await rm(folder, { recursive: true, force: true })
  }
}

/** Characters that are not understood would be sent as others. */
function textOf(bytes: Buffer): string {
  const read = decodeUtf8(bytes)
  if (read.ok) return read.text
  throw new AppError(
    'bad_request',
    `The editor did not save UTF-8 text (line ${read.line}), so it was not sent.`,
  )
}

/** The changed file; the folder where the editor left another one, such as its own copy of unsaved text; or null. */
async function writtenIn(folder: string, name: string, text: string): Promise<string | null> {
  const names = await readdir(folder)
  const path = join(folder, name)
  if (names.includes(name) && !(await readFile(path)).equals(Buffer.from(text))) return path
  return names.some((each) => each !== name) ? folder : null
}
