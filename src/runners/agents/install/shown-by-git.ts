import { relative } from 'node:path'
import { runGit } from '../../../git/run-git.ts'
import type { SettingsChange } from './install.ts'

/** The local settings that git does not ignore, relative to the workspace: they name folders of this machine. */
export async function shownByGit(
  root: string,
  changes: readonly Pick<SettingsChange, 'place' | 'path'>[],
): Promise<string[]> {
  const names: string[] = []
  for (const { place, path } of changes) {
    if (place !== 'local') continue
    const ignored = await runGit(['check-ignore', '--quiet', path], { cwd: root }).catch(() => null)
    if (ignored?.exit === 1) names.push(relative(root, path))
  }
  return names
}
