import type { HttpDeps } from '../../http/deps.ts'
import type { CaseFolder } from '../../model/case-folder.ts'
import { isMemoryName } from '../../model/memory-name.ts'
import { isBreaking, type Problem } from '../../model/problem.ts'
import { memoryPage, proofPage } from '../shell/addresses.ts'

/** Why the values of case.md cannot be read, so that nothing of it can be changed here; null where they can. */
export function brokenCase({ catalog }: Pick<HttpDeps, 'catalog'>, folder: CaseFolder) {
  const file = catalog.entry(folder.case.id)?.file
  if (!file || file.readable) return null
  return file.problems.find(isBreaking) ?? file.problems[0] ?? null
}

/** Where a file of the case is shown, its line marked if the problem has one; null where no page does. */
export function placeOf(id: string, { file, line }: Pick<Problem, 'file' | 'line'>): string | null {
  const proof = /^proof\/([0-9a-f-]{36})\.md$/.exec(file)?.[1]
  if (proof) return `${proofPage(id, proof)}${line === null ? '' : '?source'}${anchor(line)}`
  const name = /^sessions\/(\d+\.md)$/.exec(file)?.[1] ?? (isMemoryName(file) ? file : null)
  if (name === null) return null
  return `${memoryPage(id, name)}${line === null ? '' : '?source'}${anchor(line)}`
}

function anchor(line: number | null): string {
  return line === null ? '' : `#L${line}`
}
