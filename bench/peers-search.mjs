import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { median } from './figures.mjs'

/** @import { Row, SuiteOptions } from './suite.mjs' */
/** @import { Client } from './peers-rows.mjs' */
/** @import { Workspace } from './workspace.mjs' */

const WORDS = ['invoices', 'nosuchword']
const ROUNDS = 20

/**
 * `GET /cases?q=` beside ripgrep, in turns. The median counts.
 * @param {Client} client
 * @param {Workspace} workspace
 * @param {SuiteOptions} options
 * @returns {Promise<Row[]>}
 */
export async function measureSearch(client, { cases, ids }, { say }) {
  if (spawnSync('rg', ['--version']).error) {
    say('ripgrep is left out: there is no program rg')
    return []
  }
  say(`${ids.length} cases: ripgrep`)
  /** @type {Row[]} */
  const rows = []
  for (const word of WORDS) {
    /** @type {number[]} */
    const ours = []
    /** @type {number[]} */
    const theirs = []
    let found = 0
    for (let round = 0; round < ROUNDS; round++) {
      const asked = await client.ask('GET', `/cases?q=${encodeURIComponent(word)}`)
      ours.push(asked.answered - asked.sent)
      found = asked.json.length
      theirs.push(await ripgrep(word, cases, 'case.md'))
    }
    rows.push({
      what: 'search, p50',
      work: `found in ${found.toLocaleString('en')} of ${ids.length.toLocaleString('en')} cases`,
      ...{ unit: 'ms', ours: median(ours), beside: 'ripgrep', limit: median(theirs) },
    })
  }
  return rows
}

/** From its start to its end. @param {string} word @param {string} cases @param {string} glob */
export async function ripgrep(word, cases, glob) {
  const options = ['--files-with-matches', '--fixed-strings', '--ignore-case', '--glob', glob]
  const began = performance.now()
  const child = spawn('rg', [...options, '--regexp', word, cases], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  child.stdout.resume()
  await once(child, 'close')
  return performance.now() - began
}
