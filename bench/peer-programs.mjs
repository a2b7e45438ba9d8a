/** The programs of other people that answer like Casefile, installed, filled with its cases and started. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startChild } from './processes.mjs'

/** @import { Case, Side } from './peers.mjs' */
/** @import { SuiteOptions } from './suite.mjs' */
/** @typedef {{ missing: string }} Missing Why a program could not be installed. */

const BACKLOG = 'backlog.md@1.52.0'
const JSON_SERVER = 'json-server@0.17.4'
const INSTALL_MS = 180_000
/** A request that comes while a peer still reads may never be answered: it is made again after this. */
const ANSWER_MS = 10_000
const READY_MS = 300_000
const POLL_MS = 250
const PORT = 20_000 + (process.pid % 10_000)

/** Backlog.md's service for browsers, with a task for each case. @param {readonly Case[]} cases @param {SuiteOptions} options @returns {Promise<Side | Missing>} */
export async function startBacklog(cases, options) {
  const installed = install(BACKLOG, options)
  if ('missing' in installed) return installed
  const require = createRequire(join(installed.modules, 'here.js'))
  /** Its own program: the one in Node only starts it. @type {string} */
  const command = require('backlog.md/resolveBinary.cjs').resolveBinaryPath()
  const cwd = newFolder(options)
  makeProject(command, cwd, cases)
  const args = ['browser', '--no-open', '--non-interactive', '--port', String(PORT)]
  await startPeer({ command, args, cwd }, '/api/tasks', cases.length, options)
  return {
    port: PORT,
    requests: {
      get: (index) => ['GET', `/api/task/TASK-${index + 1}`],
      list: () => ['GET', '/api/tasks'],
      create: ({ tags, ...texts }) => ['POST', '/api/tasks', { ...texts, labels: tags }],
      update: (index, title) => ['PUT', `/api/tasks/TASK-${index + 1}`, { title }],
    },
  }
}

/** json-server on a file with all cases. @param {readonly Case[]} cases @param {SuiteOptions} options @returns {Promise<Side | Missing>} */
export async function startJsonServer(cases, options) {
  const installed = install(JSON_SERVER, options)
  if ('missing' in installed) return installed
  const cwd = newFolder(options)
  writeFileSync(join(cwd, 'db.json'), JSON.stringify({ cases }))
  const program = join(installed.modules, 'json-server', 'lib', 'cli', 'bin.js')
  const args = [program, 'db.json', '--host', '127.0.0.1', '--port', String(PORT), '--quiet']
  await startPeer({ args, cwd }, '/cases', cases.length, options)
  return {
    port: PORT,
    requests: {
      get: (index) => ['GET', `/cases/${cases[index]?.id}`],
      list: () => ['GET', '/cases'],
      create: (texts) => ['POST', '/cases', { ...cases[0], id: crypto.randomUUID(), ...texts }],
      update: (index, title) => ['PATCH', `/cases/${cases[index]?.id}`, { title }],
    },
  }
}

/** A package of the npm registry in a folder of its own. @param {string} spec with its exact version @param {SuiteOptions} options @returns {{ modules: string } | Missing} */
function install(spec, options) {
  const folder = newFolder(options)
  const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  try {
    execFileSync('npm', ['install', '--prefix', folder, ...flags, spec], { timeout: INSTALL_MS })
    return { modules: join(folder, 'node_modules') }
  } catch (error) {
    return { missing: `npm cannot install ${spec}: ${String(error).slice(0, 500)}` }
  }
}

/** @param {SuiteOptions} options */
function newFolder({ parent, onEnd }) {
  const folder = mkdtempSync(join(parent, 'casefile-peer-'))
  onEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/**
 * Starts a peer, and returns once its list has all that it was given.
 * @param {{ command?: string, args: string[], cwd: string }} program
 * @param {string} list the path of its list
 * @param {number} count
 * @param {SuiteOptions} options
 */
async function startPeer({ args, ...where }, list, count, { onEnd }) {
  const child = startChild(args, where)
  onEnd(() => child.stop('SIGKILL'))
  while ((await lengthOf(list)) !== count) {
    if (child.hasEnded()) await child.end()
    if (child.sinceStart() > READY_MS) throw new Error(`${args[0]} does not become ready`)
    await delay(POLL_MS)
  }
}

/** How many are in a list; undefined where there is no answer yet. @param {string} path */
async function lengthOf(path) {
  try {
    const url = `http://127.0.0.1:${PORT}${path}`
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) })
    const list = /** @type {unknown[]} */ (await response.json())
    return response.ok ? list.length : undefined
  } catch {
    return undefined // nobody listens yet, or it still reads
  }
}

/**
 * @param {string} command
 * @param {string} folder
 * @param {readonly Case[]} cases
 */
function makeProject(command, folder, cases) {
  execFileSync('git', ['init', '--quiet', folder])
  const local = ['--check-branches', 'false', '--include-remote', 'false']
  const plain = ['--integration-mode', 'none', '--auto-open-browser', 'false', '--defaults']
  execFileSync(command, ['init', 'bench', ...plain, ...local], { cwd: folder, stdio: 'ignore' })
  const config = join(folder, 'backlog', 'config.yml')
  const states = [...new Set(cases.map(({ state }) => state))]
  const text = readFileSync(config, 'utf8')
    .replace(/^statuses: .*$/m, `statuses: ${JSON.stringify(states)}`)
    .replace(/^default_status: .*$/m, `default_status: ${JSON.stringify(states[0])}`)
  writeFileSync(config, text)
  const tasks = join(folder, 'backlog', 'tasks')
  mkdirSync(tasks, { recursive: true })
  for (const [index, each] of cases.entries()) {
    const name = `task-${index + 1} - ${each.title.replace(/[^A-Za-z0-9]+/g, '-')}.md`
    writeFileSync(join(tasks, name), taskText(each, index + 1))
  }
}

/** A task as `backlog task create` writes it. @param {Case} from @param {number} number */
function taskText({ title, description, state, tags }, number) {
  return `---
id: TASK-${number}
title: ${JSON.stringify(title)}
status: ${state}
assignee: []
created_date: '2026-01-05 08:00'
labels: ${JSON.stringify(tags)}
dependencies: []
ordinal: ${number * 1000}
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
${description.trim()}
<!-- SECTION:DESCRIPTION:END -->
`
}
