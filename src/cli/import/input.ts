import { basename, join, resolve } from 'node:path'
import { isFolder, kindsNow } from '../../files/folder-names.ts'
import { realPathOf } from '../../files/real-path.ts'
import { readRegular } from '../../files/safe-read.ts'
import { BACKLOG, backlogFiles } from '../../import/backlog.ts'
import { findImporter, importerFor } from '../../import/importers.ts'
import type { Importer, InputFile } from '../../import/item.ts'
import { AppError } from '../../model/app-error.ts'

/** About 10,000 issues with long comments; JavaScript strings cannot be much longer. */
const MAX_BYTES = 256 * 1024 * 1024

export interface Input {
  importer: Importer
  files: InputFile[]
}

/** Reads a file or a project's folder, and finds out which tool it is from; `-` is standard input. */
export async function readInput(named: string, from: string | undefined): Promise<Input> {
  const wanted = from === undefined ? undefined : findImporter(from)!
  if (named === '-') {
    const bytes = await standardInput()
    const file = { path: '', bytes }
    return { importer: wanted ?? importerFor(file), files: [file] }
  }
  const path = await realPathOf(resolve(named)) // the operator chose it, so links are followed
  if (await isFolder(path)) return folderInput(named, path, wanted)
  const file = await readFile(named, path, basename(path))
  return { importer: wanted ?? importerFor(file), files: [file] }
}

/** Only Backlog.md keeps its tasks in a folder. */
async function folderInput(
  named: string,
  root: string,
  wanted: Importer | undefined,
): Promise<Input> {
  const paths = (wanted ?? BACKLOG) === BACKLOG ? backlogFiles(listingOf(root)) : []
  if (paths.length === 0) {
    const why = 'it has no tasks of Backlog.md. For other tools, name a file; see docs/exchange.md'
    throw unread(named, why)
  }
  const files: InputFile[] = []
  for (const path of paths) files.push(await readFile(path, join(root, path), path, root))
  const size = files.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
  if (size > MAX_BYTES) throw unread(named, 'its tasks are larger than 256 MiB')
  return { importer: BACKLOG, files }
}

function listingOf(root: string): (subfolder: string) => readonly string[] {
  const known = new Map<string, string[]>()
  return (subfolder) => {
    const names = known.get(subfolder) ?? namesIn(join(root, subfolder))
    known.set(subfolder, names)
    return names
  }
}

/** Links are listed, so that reading one fails and none is silently left out. */
function namesIn(folder: string): string[] {
  const kinds = kindsNow(folder)
  if (kinds === 'hidden') throw unread(folder, 'its permissions do not allow it')
  const entries = [...(kinds ?? [])].filter(([, kind]) => kind !== 'folder')
  return entries.map(([name]) => name).sort()
}

async function standardInput(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk)
    chunks.push(bytes)
    size += bytes.byteLength
    if (size > MAX_BYTES) throw unread('standard input', 'it is larger than 256 MiB')
  }
  return Buffer.concat(chunks)
}

async function readFile(
  named: string,
  absolutePath: string,
  path: string,
  within?: string,
): Promise<InputFile> {
  const read = await readRegular(absolutePath, {
    maxBytes: MAX_BYTES,
    ...(within === undefined ? {} : { within }),
  })
  if (read.ok) return { path, bytes: read.bytes }
  const why = {
    missing: 'the file does not exist',
    symbolic_link: 'it is a link',
    not_a_file: 'it is not a regular file; - reads standard input',
    too_large: 'it is larger than 256 MiB',
    no_permission: 'its permissions do not allow it',
    io_error: `the disk failed (${read.detail})`,
  }[read.reason]
  throw unread(named, why)
}

function unread(what: string, why: string): AppError {
  const message = `Nothing was imported, because ${what} cannot be read: ${why}. You can import a long list in parts.`
  return new AppError('bad_request', message)
}
