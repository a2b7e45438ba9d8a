import { join } from 'node:path'

/** Paths of files in the memory root. Callers validate ids and numbers. */
export interface Layout {
  root: string
  memoryRoot: string
  cases: string
  caseFolder(id: string): string
  caseFile(id: string): string
  sessions(id: string): string
  sessionFile(id: string, number: number): string
  /** The signed statement of an approval; its signature has `.sig` added. Named by the session's id, as two branches may give a number twice. */
  approvalFile(id: string, sessionId: string): string
  proofs(id: string): string
  proofFile(id: string, proofId: string): string
  artifacts(id: string): string
  /** A picture that is proof. The caller validates its name. */
  picture(id: string, name: string): string
  memoryFile(id: string, filename: string): string
}

export function layoutOf(root: string, memoryRoot: string): Layout {
  const cases = join(memoryRoot, 'cases')
  const caseFolder = (id: string) => `${cases}/${id}`
  const sessions = (id: string) => `${cases}/${id}/sessions`
  const proofs = (id: string) => `${cases}/${id}/proof`
  return {
    root,
    memoryRoot,
    cases,
    caseFolder,
    caseFile: (id) => `${cases}/${id}/case.md`,
    sessions,
    sessionFile: (id, number) => `${sessions(id)}/${number}.md`,
    approvalFile: (id, sessionId) => `${sessions(id)}/${sessionId}.approval`,
    proofs,
    proofFile: (id, proofId) => `${proofs(id)}/${proofId}.md`,
    artifacts: (id) => `${cases}/${id}/artifacts`,
    picture: (id, name) => `${cases}/${id}/artifacts/${name}`,
    memoryFile: (id, filename) => `${cases}/${id}/${filename}`,
  }
}

const HEX8 = '[0-9a-f]'.repeat(8)

/** Raw output stays on this machine; the pictures of proofs, named by the id of their proof, travel with git. */
export const ARTIFACT_RULES = `cases/*/artifacts/*
!cases/*/artifacts/${HEX8}-????-????-????-????????????.*
`

/** The line that older versions wrote instead. */
export const OLD_ARTIFACT_RULE = /^artifacts\/[ \t]*(?:\r?\n|$)/m

/** GitHub and GitLab fold these in a diff. */
const GENERATED = `cases/*/artifacts/** linguist-generated
cases/*/proof/** linguist-generated
`

/** Written when the service creates the memory root. */
export const MEMORY_ROOT_FILES: Record<string, string> = {
  '.gitignore': `latest.md\nindex.md\n.casefile-*.tmp\n.casefile-*.trash\n${ARTIFACT_RULES}`,
  '.gitattributes': `* -text\nhistory.md merge=union\n${GENERATED}`,
}

/** All of the file that older versions wrote. */
export const OLD_ATTRIBUTES = /^\* -text\nhistory\.md merge=union\n$/
