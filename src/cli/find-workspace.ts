import { dirname, join, resolve } from 'node:path'
import { isFolder } from '../files/folder-names.ts'
import { stampOf } from '../files/safe-read.ts'
import { SETTINGS_FILE } from '../markdown/settings-file.ts'
import { Refusal } from '../model/refusal.ts'
import { askOwner } from '../state/owner/ask-owner.ts'
import { type Folders, findFolders } from '../workspace/settings/folders.ts'
import type { FoundPlaces } from '../workspace/settings/places.ts'

/** As the options of a console command give them; a `root` that is not given is looked for. */
export interface WorkspaceOptions {
  root?: string | undefined
  memoryRoot?: string | undefined
  stateDir?: string | undefined
}

/** Where a command is at work. */
export interface Workspace extends FoundPlaces {
  stateDir: string
}

/**
 * The workspace that a console command is about, as git finds its repository: the nearest folder
 * upwards that has `casefile.md` or `memory/cases`. Makes nothing; refuses where there is none, unless
 * a service serves the folder already.
 */
export async function findWorkspace(choice: WorkspaceOptions): Promise<Folders> {
  const found = choice.root === undefined ? await nearest(process.cwd()) : null
  const root = choice.root ?? found ?? '.'
  const folders = await findFolders({ ...choice, root }, process.env)
  if (found !== null || choice.memoryRoot !== undefined) return folders
  if (choice.root !== undefined && (await isWorkspace(folders.root))) return folders
  if ((await askOwner(folders.memoryRoot)).held) return folders
  const where =
    choice.root === undefined
      ? `This folder (${folders.root}) is in no workspace: neither it nor one above it has`
      : `${folders.root} is no workspace: it has no`
  const init = `casefile init${choice.root === undefined ? '' : ` --root ${choice.root}`}`
  throw new Refusal(
    'bad_request',
    `${where} casefile.md or memory/cases. Name another one with --root, or make it one with: ${init}`,
  )
}

async function nearest(from: string): Promise<string | null> {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    if (await isWorkspace(folder)) return folder
    if (folder === dirname(folder)) return null
  }
}

async function isWorkspace(folder: string): Promise<boolean> {
  return (
    (await stampOf(join(folder, SETTINGS_FILE))) !== null ||
    (await isFolder(join(folder, 'memory', 'cases')))
  )
}
