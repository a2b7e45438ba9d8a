import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { servicePath, serviceProgram } from './files/service-program.ts'
import type { Build } from './http/deps.ts'
import { OWN_FOLDER, packageVersion } from './package-files.ts'

let commit: Promise<string | null> | undefined

/** The package's version, and the commit if it is a git checkout. */
export async function build(): Promise<Build> {
  commit ??= commitOf(OWN_FOLDER)
  return { version: packageVersion(), commit: await commit }
}

async function commitOf(folder: string): Promise<string | null> {
  const args = ['-C', folder, 'rev-parse', '--show-prefix', 'HEAD']
  try {
    const { stdout } = await promisify(execFile)(serviceProgram('git'), args, {
      timeout: 5000,
      env: { ...process.env, PATH: servicePath() },
    })
    const [prefix, commit] = stdout.split('\n')
    return prefix === '' && commit ? commit : null // else the commit is of a repository that contains this folder
  } catch {
    return null // there is no commit: installed from a package, no git, or an empty repository
  }
}
