import { hash } from 'node:crypto'

/** Returns, for each file of a patch of git in its order, the hash of what it changes; null if it shows no lines. */
export function changeHashes(patch: string): (string | null)[] {
  return patch
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith('diff --git '))
    .map(changeHash)
}

/** Without line numbers and kinds of line ends, so that a rebase and git's conversion of line ends keep it. */
function changeHash(part: string): string | null {
  const start = part.search(/^@@ /m)
  if (start < 0) return null
  return hash(
    'sha256',
    part
      .slice(start)
      .replace(/^@@ .*$/gm, '@@')
      .replaceAll('\r\n', '\n'),
  )
}
