/** The state folder, where this machine stores casefile.db, scratch and trash of one memory root. */

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { makeFolder } from '../files/durable-write.ts'
import { hasCode } from '../files/errno.ts'
import { entriesIn, isOpenFolder } from '../files/folder-names.ts'
import { isWithin, realPathOf } from '../files/real-path.ts'
import { AppError } from '../model/app-error.ts'

/** The paths in the state folder. Only `root` exists at first. */
export interface StateFolder {
  root: string
  scratch: string
  trash: string
}

/** Returns the state folder of a memory root, named after its real path. */
export async function defaultStateFolder(
  memoryRoot: string,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const key = createHash('sha256')
    .update(await realPathOf(memoryRoot))
    .digest('hex')
    .slice(0, 16)
  return join(stateFolders(env), key)
}

/** The state folder of a service, and where those of the user's other workspaces are, as far as it can know. */
export async function allStateFolders(own: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const around = dirname(own)
  const names = (await isOpenFolder(around)) ? await entriesIn(around) : []
  const beside = names.map((name) => join(around, name))
  const others = beside.filter((folder) => existsSync(join(folder, 'casefile.db')))
  return [own, stateFolders(env), stateFolders({ HOME: env.HOME }), ...others]
}

/** The folder that has the state folders of all memory roots. */
export function stateFolders(env: NodeJS.ProcessEnv): string {
  const given = env.XDG_STATE_HOME
  const home = env.HOME && isAbsolute(env.HOME) ? env.HOME : homedir()
  const base = given && isAbsolute(given) ? given : join(home, '.local', 'state')
  return join(base, 'casefile')
}

/**
 * Creates the folder, accessible only to its user. Throws `bad_request` for one inside the memory root or the
 * workspace: `git clean` would delete it, a clone could bring a forged one, and agents could read its secrets.
 */
export async function openStateFolder(
  path: string,
  roots: { memoryRoot: string; workspaceRoot?: string },
): Promise<StateFolder> {
  const root = await checkStateFolder(path, roots)
  await makeStateFolder(root)
  if (process.getuid !== undefined && (await stat(root)).mode & 0o077) await chmod(root, 0o700)
  return {
    root,
    scratch: join(root, 'scratch'),
    trash: join(root, 'trash'),
  }
}

/**
 * The real path of the folder, which need not exist. Throws `bad_request` if other users own it or may write in it:
 * what it says of trust and approvals would be theirs.
 */
export async function ownStateFolder(path: string): Promise<string> {
  const root = await realPathOf(path)
  const found = await stat(root).catch((error) => {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  })
  if (found === null || process.getuid === undefined) return root
  const other = 'Choose another with --state-dir, or XDG_STATE_HOME.'
  if (found.uid !== process.getuid()) {
    const message = `The state folder ${root} belongs to another user (uid ${found.uid}), who can read and change what is in it. ${other}`
    throw new AppError('bad_request', message)
  }
  if ((found.mode & 0o022) !== 0) {
    const mode = (found.mode & 0o777).toString(8)
    const message = `Other users can write in the state folder ${root} (mode ${mode}). If nothing in it is theirs, run: chmod 700 ${root}. ${other}`
    throw new AppError('bad_request', message)
  }
  return root
}

/** The real path of the folder. Throws as `openStateFolder` does for one in the wrong place. */
export async function checkStateFolder(
  path: string,
  roots: { memoryRoot: string; workspaceRoot?: string },
): Promise<string> {
  const root = await ownStateFolder(path)
  await mustBeOutside(root, roots.memoryRoot, 'memory root')
  if (roots.workspaceRoot) await mustBeOutside(root, roots.workspaceRoot, 'workspace')
  return root
}

/** An unwritable home folder is often intended, as for a system user. */
async function makeStateFolder(root: string): Promise<void> {
  try {
    await makeFolder(root, 0o700)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const message = `The state folder ${root} cannot be made. ${error.message} Or give another one with --state-dir.`
    throw new AppError(error.code, message, { cause: error })
  }
}

async function mustBeOutside(state: string, folder: string, name: string): Promise<void> {
  const outer = await realPathOf(folder)
  if (!isWithin(outer, state)) return
  throw new AppError(
    'bad_request',
    `The state folder ${state} lies inside the ${name}. There git clean would delete it, a clone could ` +
      'bring a forged one, and agents could read its secrets. Give another one with XDG_STATE_HOME, or --state-dir.',
  )
}
