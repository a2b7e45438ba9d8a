import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { freePort, installPeer, newFolder, startPeer } from './peers-process.mjs'

/** @import { Case, Start } from './peers.mjs' */

const SPEC = 'backlog.md@1.52.0'

/** Backlog.md's service for browsers, with a task for each case. @type {Start} */
export async function startBacklog({ cases, parent, onEnd }) {
  const installed = await installPeer(SPEC, parent, onEnd)
  if ('missing' in installed) return installed
  const require = createRequire(join(installed.folder, 'here.js'))
  /** Its own program: the one in Node only starts it. @type {string} */
  const command = require('backlog.md/resolveBinary.cjs').resolveBinaryPath()

  const folder = newFolder(parent, onEnd)
  makeProject(command, folder, cases)
  const port = await freePort()
  const peer = await startPeer({
    command,
    folder,
    onEnd,
    url: `http://127.0.0.1:${port}`,
    list: '/api/tasks',
    args: ['browser', '--no-open', '--non-interactive', '--port', String(port)],
    count: cases.length,
  })
  return {
    ...peer,
    requests: {
      get: (index) => ['GET', `/api/task/TASK-${index + 1}`],
      list: () => ['GET', '/api/tasks'],
      create: ({ tags, ...texts }) => ['POST', '/api/tasks', { ...texts, labels: tags }],
      update: (index, title) => ['PUT', `/api/tasks/TASK-${index + 1}`, { title }],
    },
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
