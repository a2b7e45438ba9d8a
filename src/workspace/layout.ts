import { join } from 'node:path'

/** Where each thing of a memory root lies (design §1). Ids and numbers are validated by the caller. */
export interface Layout {
  root: string
  memoryRoot: string
  cases: string
  caseFolder(id: string): string
  caseFile(id: string): string
  sessions(id: string): string
  sessionFile(id: string, number: number): string
  proofs(id: string): string
  proofFile(id: string, proofId: string): string
  artifacts(id: string): string
  memoryFile(id: string, filename: string): string
}

export function layoutOf(root: string, memoryRoot: string): Layout {
  const cases = join(memoryRoot, 'cases')
  const caseFolder = (id: string) => join(cases, id)
  const sessions = (id: string) => join(cases, id, 'sessions')
  const proofs = (id: string) => join(cases, id, 'proof')
  return {
    root,
    memoryRoot,
    cases,
    caseFolder,
    caseFile: (id) => join(cases, id, 'case.md'),
    sessions,
    sessionFile: (id, number) => join(sessions(id), `${number}.md`),
    proofs,
    proofFile: (id, proofId) => join(proofs(id), `${proofId}.md`),
    artifacts: (id) => join(cases, id, 'artifacts'),
    memoryFile: (id, filename) => join(cases, id, filename),
  }
}

/** Written when the service makes the memory root (design §1). */
export const MEMORY_ROOT_FILES: Record<string, string> = {
  '.gitignore': 'latest.md\nindex.md\nartifacts/\n',
  '.gitattributes': '* -text\n',
}
