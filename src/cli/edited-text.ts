import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeUtf8 } from '../files/safe-read.ts'
import { AppError } from '../model/app-error.ts'
import { editFile } from './editor.ts'

/**
 * Opens a text in the person's editor as a temporary file, and passes the edited text to `use`. Removes the file after
 * `use`. If the editor or `use` fails, the file stays and `onSaved` gets its path.
 */
export async function withEdited(
  text: string,
  { name, signal, onSaved }: { name: string; signal: AbortSignal; onSaved: (path: string) => void },
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
    if (written !== null) onSaved(written)
    else await rm(folder, { recursive: true, force: true })
  }
}

/** Throws for text that is not UTF-8: decoding would change its characters. */
function textOf(bytes: Buffer): string {
  const read = decodeUtf8(bytes)
  if (read.ok) return read.text
  throw new AppError(
    'bad_request',
    `The editor did not save UTF-8 text (line ${read.line}), so it was not sent.`,
  )
}

/**
 * The path of the changed file; the folder if the editor left another file there, such as its copy of unsaved text;
 * else null.
 */
async function writtenIn(folder: string, name: string, text: string): Promise<string | null> {
  const names = await readdir(folder)
  const path = join(folder, name)
  if (names.includes(name) && !(await readFile(path)).equals(Buffer.from(text))) return path
  return names.some((each) => each !== name) ? folder : null
}
