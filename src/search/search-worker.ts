import { parentPort, workerData } from 'node:worker_threads'
import { findCases } from './find-cases.ts'
import type { Ask, Told, Where } from './search-messages.ts'
import { createSearchedCases } from './searched-cases.ts'
import { similarCases } from './similar-cases.ts'

/** The thread that has the index: nothing that it does keeps a request waiting that searches for nothing. */
const where: Where = workerData
const port = parentPort!
const cases = createSearchedCases(where)
/** Nobody has asked for so long: now it keeps nobody waiting. */
const QUIET_MS = 2000
let quiet: NodeJS.Timeout | undefined

const tell = (told: Told) => port.postMessage(told)

function save(): void {
  try {
    if (cases.isDue) cases.save()
  } catch (error) {
    tell({ kind: 'log', line: `the index of the search is not kept: ${String(error)}` })
  }
}

function answer(ask: Extract<Ask, { n: number }>): void {
  const { n, limit } = ask
  try {
    const answer =
      ask.kind === 'find'
        ? findCases(cases, ask.query, { limit, shown: where.shown })
        : similarCases(cases, ask.id, limit)
    tell({ kind: 'answer', n, answer })
  } catch (error) {
    tell({ kind: 'refused', n, why: String(error) })
  }
}

port.on('message', (ask: Ask) => {
  clearTimeout(quiet)
  if (ask.kind === 'close') {
    save()
    port.close()
    return
  }
  if (ask.kind === 'cases') cases.take(ask.cases, ask.gone, ask.all)
  else answer(ask)
  quiet = setTimeout(() => {
    save()
    cases.index.warmUp()
  }, QUIET_MS)
})
