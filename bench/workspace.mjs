import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { caseTexts, createRandom } from './case-texts.mjs'

/**
 * A workspace on the disk: a git repository with `count` cases, a session and a proof on every third,
 * notes on every fifth. The same seed gives the same bytes.
 * @param {{ parent: string, count: number, seed: number }} options
 */
export function makeWorkspace({ parent, count, seed }) {
  const random = createRandom(seed)
  const home = mkdtempSync(join(parent, 'casefile-bench-'))
  const root = join(home, 'workspace')
  const cases = join(root, 'memory', 'cases')
  /** @type {string[]} */
  const ids = []
  const folders = new Set([cases])
  mkdirSync(cases, { recursive: true })
  execFileSync('git', ['init', '--quiet', root])
  for (let index = 0; index < count; index++) {
    const id = random.uuid()
    const hasSession = index % 3 === 0
    const texts = caseTexts(random, { id, minute: index, hasSession, hasNotes: index % 5 === 0 })
    for (const [name, text] of texts) {
      const path = join(cases, id, name)
      if (!folders.has(dirname(path))) mkdirSync(dirname(path), { recursive: true })
      folders.add(dirname(path))
      writeFileSync(path, text)
    }
    ids.push(id)
  }
  return {
    root,
    cases,
    ids,
    stateDir: join(home, 'state'),
    remove: () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }),
  }
}

/** @typedef {ReturnType<typeof makeWorkspace>} Workspace */
