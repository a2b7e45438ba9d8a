import { dirname, join, resolve } from 'node:path'
import { isFolder } from '../files/folder-names.ts'
import { stampOf } from '../files/safe-read.ts'
import { AppError } from '../model/app-error.ts'
import { SETTINGS_FILE } from '../model/settings.ts'
import { type Folders, findFolders } from '../settings/folders.ts'
import { askOwner } from '../state/owner/find-owner.ts'

/** Folders from the options of a command. Without `root` the workspace is searched for. */
export interface WorkspaceOptions {
  root?: string | undefined
  memoryRoot?: string | undefined
  stateDir?: string | undefined
}

/**
 * Finds the workspace of a command as git finds a repository: the nearest folder upwards with `casefile.md` or
 * `memory/cases`. Creates nothing. Throws if there is none, unless a service already serves the folder.
 */
export async function findWorkspace(choice: WorkspaceOptions): Promise<Folders> {
  const found = choice.root === undefined ? await nearest(process.cwd()) : null
  const root = choice.root ?? found ?? '.'
  const folders = await findFolders({ ...choice, root }, process.env)
  if (found !== null || choice.memoryRoot !== undefined) return folders
  if (choice.root !== undefined && (await isWorkspace(folders.root))) return folders
  if (await askOwner(folders)) return folders
  const where =
    choice.root === undefined
      ? `This folder (${folders.root}) isn't in a workspace: neither it nor a folder above it has`
      : `${folders.root} isn't a workspace: it doesn't have`
  const init = `casefile init${choice.root === undefined ? '' : ` --root ${choice.root}`}`
  throw new AppError(
    'bad_request',
    `${where} casefile.md or memory/cases. Choose another folder with --root, or set up a workspace here: ${init}`,
  )
}

/** The folder in which a command looks for its workspace. */
export async function rootOf({ root }: Pick<WorkspaceOptions, 'root'>): Promise<string> {
  return resolve(root ?? (await nearest(process.cwd())) ?? '.')
}

async function nearest(from: string): Promise<string | null> {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    if (await isWorkspace(folder)) return folder
    if (folder === dirname(folder)) return null
  }
}

/** Whether a folder has what a workspace has. */
export async function isWorkspace(folder: string): Promise<boolean> {
  return (
    (await stampOf(join(folder, SETTINGS_FILE))) !== null ||
    (await isFolder(join(folder, 'memory', 'cases')))
  )
}
