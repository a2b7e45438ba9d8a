/** Attributes of git with which it stores something else than the file has, such as those of git-crypt and git-lfs. */

import type { MemoryGit } from './memory-git.ts'
import { SyncStop } from './sync-stop.ts'
import { withIndex } from './trees.ts'

const ATTRIBUTES = ['filter', 'working-tree-encoding', 'ident']

/**
 * Throws a `SyncStop` if a markdown file has such an attribute: the record is read and merged as git stores it. The
 * attributes are those of the working tree, and of a tree or commit if one is given.
 */
export async function mustBeStoredPlainly(
  git: MemoryGit,
  paths: Iterable<string>,
  tree: string | null = null,
): Promise<void> {
  const files = [...new Set(paths)].filter(
    (path) => path.startsWith(git.prefix) && path.endsWith('.md'),
  )
  if (files.length === 0) return
  const input = files.map((path) => `${path}\0`).join('')
  mustHaveNone(await git.text(['check-attr', '-z', '--stdin', ...ATTRIBUTES], { input }))
  if (tree === null) return
  await withIndex(git, async (env) => {
    await git.text(['read-tree', tree], { env })
    const args = ['check-attr', '--cached', '-z', '--stdin', ...ATTRIBUTES]
    mustHaveNone(await git.text(args, { env, input }))
  })
}

function mustHaveNone(printed: string): void {
  const parts = printed.split('\0')
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const [path = '', name = '', value = ''] = parts.slice(at, at + 3)
    if (value === 'unspecified' || value === 'unset') continue
    const attribute = value === 'set' ? name : `${name}=${value}`
    throw new SyncStop(
      'filtered_file',
      `${path} has the git attribute ${attribute}: git stores something else than the file has, which sync cannot merge. Take the attribute off *.md in .gitattributes and run git add --renormalize and git commit, or share the record with git pull and git push.`,
    )
  }
}
