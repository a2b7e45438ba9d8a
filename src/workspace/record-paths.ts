import { isMemoryName } from '../model/memory-name.ts'
import { UUID } from '../model/name-patterns.ts'
import { MEMORY_ROOT_FILES } from './layout.ts'

/** In the memory root: the codes of findings that are no secrets, one in each line. */
export const NOT_SECRETS_FILE = '.not-secrets'

const ROOT_FILES = new Set([
  ...Object.keys(MEMORY_ROOT_FILES),
  'index.md',
  'latest.md',
  NOT_SECRETS_FILE,
])
const ID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const COPY = '(?:\\.conflict-[0-9TZ.-]+)?'
const APPROVAL = new RegExp(`^${ID}(?:\\.approval)?${COPY}\\.(?:approval|sig)$`)
const PICTURE = new RegExp(`^${ID}${COPY}\\.(?:png|jpg|webp|gif)$`)

/**
 * Whether Casefile keeps a file with this path, relative to the memory root, in git. Anything else that lies there, such
 * as a script, is code.
 */
export function isRecordPath(path: string): boolean {
  const [cases, id, ...names] = path.split('/')
  if (id === undefined) return ROOT_FILES.has(path)
  if (cases !== 'cases' || !UUID.test(id)) return false
  const name = names.pop() ?? ''
  const folder = names.join('/')
  if (['', 'sessions', 'proof'].includes(folder) && isMemoryName(name)) return true
  return folder === 'sessions' ? APPROVAL.test(name) : folder === 'artifacts' && PICTURE.test(name)
}
