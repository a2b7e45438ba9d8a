import { join } from 'node:path'
import { kindsNow, sessionNumbers } from '../files/folder-names.ts'
import type { CaseEntry } from '../workspace/case-entry.ts'
import { removeLatest, setLatest } from '../workspace/latest-link.ts'
import type { Fixer } from './fixer.ts'

/** Points `latest.md` at the newest session. A file that an editor put in its place is kept as a copy. */
export async function fixLatest(fixer: Fixer, { id }: CaseEntry): Promise<void> {
  const folder = fixer.snapshot.layout.sessions(id)
  await fixer.fix(join(folder, 'latest.md'), async () => {
    const kinds = kindsNow(folder)
    if (!kinds || kinds === 'hidden') return null
    const newest = sessionNumbers([...kinds.keys()]).at(-1)
    if (newest === undefined) {
      if (kinds.get('latest.md') !== 'link') return null
      await removeLatest(folder)
      return 'removed, because there is no session'
    }
    if (!(await setLatest(folder, newest, fixer.now()))) return null
    const isKept = kinds.get('latest.md') === 'file'
    return `it points to session ${newest}${isKept ? ' again; the file in its place is kept as a conflict copy' : ''}`
  })
}
