import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { AppError } from '../../src/model/app-error.ts'
import { claudeHooks } from '../../src/runners/agents/claude/install.ts'
import {
  PLAN_HOLD_S,
  PLAN_WAIT_S,
  STOP_WAIT_S,
} from '../../src/runners/agents/hooks/hook-script.ts'
import { HOOK_AGENTS } from '../../src/runners/agents/install/hook-agents.ts'
import type { HookTarget } from '../../src/runners/agents/install/hook-command.ts'

const target: HookTarget = {
  root: '/home/me/it’s "my" \\ project',
  script: "/home/me/.local/state/casefile/o'neil/hooks/hook",
  isUser: false,
  isShared: false,
  isStrict: false,
}
const PATH = '.claude/settings.local.json'

const add = (text: string | null, more: Partial<HookTarget> = {}) =>
  claudeHooks.add(text, PATH, { ...target, ...more })
const remove = (text: string, more: Partial<HookTarget> = {}) =>
  claudeHooks.remove(text, PATH, { ...target, ...more })
const find = (text: string) => claudeHooks.find(text, PATH, target)

/** Settings as people have them. Their hooks come first in the same events, and stay. */
const SETTINGS: Record<string, string> = {
  'two spaces': '{\n  "model": "opus"\n}\n',
  'CR LF and tabs': '{\r\n\t"model": "opus",\r\n\t"env": {\r\n\t\t"A": "1"\r\n\t}\r\n}\r\n',
  'a byte order mark': '\uFEFF{\n  "model": "opus"\n}\n',
  'one line': '{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"say"}]}]}}',
  'comments everywhere':
    '// first\n{\n  /* before */ "model": "opus", // after\n  "hooks": { // theirs\n    "PreToolUse": [\n      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "a" }] } // last\n      // end\n    ] // more\n  } // the hooks\n  // nothing\n}\n// bye\n',
  'trailing commas':
    '{\n  "hooks": {\n    "Stop": [\n      { "hooks": [{ "type": "command", "command": "a" },], },\n    ],\n  },\n}\n',
  'hooks of a similar name':
    '{\n    "hooks": {\n        "PreToolUse": [\n            {\n                "hooks": [\n                    { "type": "command", "command": "sh ~/hooks/hook claude-ish" }\n                ]\n            }\n        ]\n    }\n}\n',
  'characters beyond ASCII': '{\n  "name": "Zoë 🦊 \\u00e9"\n}\n',
}

for (const [name, text] of Object.entries(SETTINGS)) {
  t.test(`${name}: every byte stays, and comes back`, async (t) => {
    const installed = add(text)
    t.equal(remove(installed), text, 'removed')
    for (const line of text.includes('\n') ? text.split('\n') : []) {
      const kept = line.trim().replace(/,?\s*(?:\/\/.*)?$/, '')
      t.ok(installed.includes(kept), kept)
    }
    t.not(find(installed), null)
    t.equal(find(text), null)
    const before = text.includes('\r\n')
    t.equal(/[^\r]\n/.test(installed) && before, false, 'the line ends are the same everywhere')
  })
}

t.test('any settings keep every byte, and come back', async () => {
  const hook = fc.record({ type: fc.constant('command'), command: fc.string() })
  const group = fc.record({ matcher: fc.string(), hooks: fc.array(hook) })
  const events = fc.constantFrom('Stop', 'PreToolUse', 'Other')
  const hooks = fc.dictionary(events, fc.array(group, { minLength: 1 }), { minKeys: 1 })
  const values = { a: fc.jsonValue(), z: fc.jsonValue() }
  const written = fc.record({
    settings: fc.oneof(fc.record({ ...values, hooks }), fc.record(values)),
    indent: fc.constantFrom(undefined, 1, 2, 4, '\t'),
    eol: fc.constantFrom('\n', '\r\n'),
    end: fc.constantFrom('', '\n'),
  })
  const property = fc.property(written, ({ settings, indent, eol, end }) => {
    const text = JSON.stringify(settings, null, indent).replaceAll('\n', eol) + end
    const installed = add(text)
    if (remove(installed) !== text) throw new Error(`removed: ${remove(installed)}`)
    const { hooks: had = {}, ...others } = JSON.parse(text)
    const { hooks: has, ...left } = JSON.parse(installed)
    if (JSON.stringify(left) !== JSON.stringify(others)) throw new Error(installed)
    for (const [event, groups] of Object.entries<unknown[]>(had)) {
      const kept = has[event].slice(0, groups.length)
      if (JSON.stringify(kept) !== JSON.stringify(groups)) throw new Error(`${event}: ${installed}`)
    }
  })
  fc.assert(property, { numRuns: 40 })
})

t.test('an empty file, an empty object and no file get the hooks', async (t) => {
  for (const text of ['', '\n', '{}', '{ }\n', '{\n}\n', '{"hooks":{}}', null]) {
    const parsed = JSON.parse(add(text))
    t.match(Object.keys(parsed.hooks), ['SessionStart', 'UserPromptSubmit', 'PreToolUse'])
    t.equal(parsed.hooks.PreToolUse[0].matcher, '*')
  }
})

t.test("a user's settings may have the hooks of two workspaces", async (t) => {
  const other = { isUser: true, script: '/other/hooks/hook', root: '/other-root' }
  const both = add(add('{}', other), { isUser: true })
  t.equal(remove(remove(both, other)!, { isUser: true }), '{\n}')
  t.match(remove(both, { isUser: true }), /\/other\/hooks\/hook/)
  t.notMatch(remove(both, { isUser: true }), /o'\\\\''neil/)
})

t.test('one hook in a group of another person goes alone', async (t) => {
  const { command } = JSON.parse(add(null)).hooks.Stop[0].hooks[0]
  const theirs = { type: 'command', command: 'say done' }
  const mixed = { hooks: { Stop: [{ hooks: [theirs, { type: 'command', command }] }] } }
  const left = JSON.parse(remove(JSON.stringify(mixed, null, 2))!)
  t.strictSame(left, { hooks: { Stop: [{ hooks: [theirs] }] } })
})

t.test('what cannot be changed is not, and the message says where', async (t) => {
  const bad: [text: string, message: RegExp][] = [
    ['{\n  "a": 1\n  "b": 2\n}', /line 3: comma expected/],
    ['[]', /should be a JSON object/],
    ['{"hooks": []}', /"hooks" should be an object/],
    ['{"hooks": {"Stop": {}}}', /"hooks", "Stop" should be an array/],
    ['{"hooks": {}, "hooks": {}}', /"hooks" twice/],
    ['{"model"', /line 1: colon expected/],
    ['<<<<<<< ours\n{}', /line 1/],
  ]
  for (const [text, message] of bad) {
    t.throws(() => add(text), { code: 'unreadable_file', message })
    t.throws(() => add(text), AppError)
  }
})

t.test('every agent waits longer for a line than its script takes', async (t) => {
  const LEAST: Record<string, number> = {
    gate: 5 + 5,
    wait: PLAN_WAIT_S,
    hold: PLAN_WAIT_S,
    stop: STOP_WAIT_S,
    tell: 5,
    note: 0,
  }
  /** They present a plan by a call of a tool. */
  const HELD = ['gemini', 'copilot']
  for (const { id, add } of HOOK_AGENTS.filter(({ id }) => id !== 'opencode')) {
    const kinds = new Set<string>()
    JSON.parse(add(null, PATH, target), (_, value) => {
      const line: unknown = value?.command ?? value?.bash
      if (typeof line !== 'string') return value
      const [, agent, kind = ''] = /hook' (\w+) (\w+)/.exec(line) ?? []
      const seconds = value.timeoutSec ?? (id === 'gemini' ? value.timeout / 1000 : value.timeout)
      const least = kind === 'gate' && HELD.includes(id) ? PLAN_HOLD_S : LEAST[kind]!
      t.equal(agent, id)
      // Codex cuts the limits of its last events to this
      if (id === 'codex' && seconds === 3) t.equal(kind, 'tell')
      else t.ok(seconds > least, `${id} ${kind}: ${seconds} s`)
      kinds.add(kind)
      return value
    })
    t.ok(
      ['gate', 'stop', 'tell', 'note'].every((kind) => kinds.has(kind)),
      [...kinds].join(),
    )
  }
  const { SessionEnd, Interrupt } = JSON.parse(HOOK_AGENTS[1]!.add(null, PATH, target)).hooks
  for (const [{ hooks }] of [SessionEnd, Interrupt]) t.equal(hooks[0].timeout, 3, 'or Codex warns')
})

t.test('settings of a project name no folder of one machine', async (t) => {
  const shared = add(null, { isShared: true })
  t.notMatch(shared, target.root)
  t.notMatch(shared, '/home/me')
  t.equal(remove(shared), '{\n}\n')
  const { command } = JSON.parse(shared).hooks.PreToolUse[0].hooks[0]
  const env = { HOME: '/nonexistent', PATH: process.env.PATH! }
  const { stdout } = spawnSync('/bin/sh', ['-c', command], { env, encoding: 'utf8', input: '{}' })
  t.match(stdout, /"deny".*casefile serve \(in this project\)/)
})

t.test('a line denies by itself where the script is missing or broken', async (t) => {
  const folder = t.testdir()
  const root = join(folder, 'it’s "my" \\ project')
  mkdirSync(root)
  const script = join(folder, 'hook')
  const lines = (isUser: boolean) => {
    const settings = JSON.parse(add(null, { root, script: `${script}s/hook`, isUser }))
    const of = (event: string): string => settings.hooks[event][0].hooks[0].command
    return { gate: of('PreToolUse'), plan: of('PermissionRequest'), stop: of('Stop') }
  }
  const run = (command: string, cwd = root) =>
    spawnSync('/bin/sh', ['-c', command], { cwd, encoding: 'utf8', input: '{}' })

  for (const text of [null, 'exit 3\n', 'if (\n']) {
    if (text !== null) {
      mkdirSync(`${script}s`, { recursive: true })
      writeFileSync(`${script}s/hook`, text)
    }
    const { gate, plan, stop } = lines(false)
    const { status, stdout } = run(gate)
    t.equal(status, 0)
    const { hookSpecificOutput: output } = JSON.parse(stdout)
    t.match(output, { hookEventName: 'PreToolUse', permissionDecision: 'deny' })
    t.equal(
      output.permissionDecisionReason,
      `Casefile does not answer. Start it with: casefile serve (in ${root})`,
    )
    for (const each of [plan, stop]) t.match(run(each), { status: 0, stdout: '' })
    t.match(run(lines(true).gate).stdout, /"deny"/, "a user's hook in the workspace")
    if (text === null) t.equal(run(lines(true).gate, folder).stdout, '', 'and outside of it')
  }
})
