import t from 'tap'
import { type Restrictions, withRestrictions } from '../../src/model/restrictions.ts'
import {
  DEFAULT_SETTINGS,
  type ProviderSettings,
  type Settings,
  variablesIn,
} from '../../src/model/settings.ts'
import {
  foreignProviders,
  needsTrust,
  remoteTargets,
  trustedText,
  untrustedSettings,
} from '../../src/model/trust.ts'
import { isUngated } from '../../src/model/ungated-conversation.ts'
import { expectedWallsText, wallsText } from '../../src/model/walls-text.ts'

const settings = (parts: Partial<Settings> = {}): Settings => ({ ...DEFAULT_SETTINGS, ...parts })

t.test('casefile.md may restrict more, and not less', async (t) => {
  const hosts = (...names: string[]) => ({ hosts: names })
  const rows: [
    name: string,
    before: Partial<Restrictions>,
    now: Partial<Restrictions>,
    removed: string[],
    result: Partial<Restrictions>,
  ][] = [
    ['the same', { hide: ['a'] }, { hide: ['a'] }, [], { hide: ['a'] }],
    ['hides more', { hide: ['a'] }, { hide: ['a', 'b'] }, [], { hide: ['a', 'b'] }],
    [
      'hides less',
      { hide: ['a', 'b'] },
      { hide: ['c', 'b'] },
      ['hide a'],
      { hide: ['c', 'b', 'a'] },
    ],
    [
      'requires less',
      { checklist: ['a'] },
      { checklist: [] },
      ['checklist a'],
      { checklist: ['a'] },
    ],
    ['a cache more', { cache: ['a'] }, { cache: ['a', 'b'] }, ['cache a'], { cache: ['a'] }],
    ['a cache less', { cache: ['a', 'b'] }, { cache: ['b'] }, [], { cache: ['b'] }],
    [
      'the usual caches instead of some',
      { cache: ['a'] },
      { cache: null },
      ['cache a'],
      { cache: ['a'] },
    ],
    ['some instead of none', { cache: [] }, { cache: ['a'] }, ['cache no cache'], { cache: [] }],
    [
      'some instead of the usual',
      { cache: null },
      { cache: ['a'] },
      ['cache the usual caches'],
      { cache: null },
    ],
    ['none instead of the usual', { cache: null }, { cache: [] }, [], { cache: [] }],
    [
      'no sandbox',
      { sandbox: 'mounts' },
      { sandbox: 'none' },
      ['sandbox mounts'],
      { sandbox: 'mounts' },
    ],
    [
      'hosts instead of mounts',
      { sandbox: 'mounts' },
      { sandbox: hosts('a') },
      [],
      { sandbox: hosts('a') },
    ],
    [
      'mounts instead of hosts',
      { sandbox: hosts('a') },
      { sandbox: 'mounts' },
      ['sandbox a'],
      { sandbox: hosts('a') },
    ],
    [
      'a host more',
      { sandbox: hosts('a', 'b') },
      { sandbox: hosts('b', 'c') },
      ['sandbox a b'],
      { sandbox: hosts('b') },
    ],
    [
      'a host instead of none',
      { sandbox: hosts() },
      { sandbox: hosts('c') },
      ['sandbox no host'],
      { sandbox: hosts() },
    ],
    [
      'a sandbox instead of none',
      { sandbox: 'none' },
      { sandbox: 'mounts' },
      [],
      { sandbox: 'mounts' },
    ],
    [
      'no signature',
      { signApprovals: true },
      { signApprovals: false },
      ['sign_approvals a signature'],
      { signApprovals: true },
    ],
    [
      'no worktree',
      { isolation: 'worktree' },
      { isolation: 'none' },
      ['isolation worktrees'],
      { isolation: 'worktree' },
    ],
    ['a worktree', { isolation: 'none' }, { isolation: 'worktree' }, [], { isolation: 'worktree' }],
  ]
  for (const [name, before, now, removed, result] of rows) {
    const found = withRestrictions(settings(now), settings(before))
    t.strictSame(
      found.removed.map(({ key, names }) => `${key} ${names.join(' ')}`),
      removed,
      name,
    )
    for (const [key, value] of Object.entries(result))
      t.strictSame(found.settings[key as 'hide'], value as never, name)
  }
  t.strictSame(withRestrictions(settings(), null).removed, [])
})

t.test('what needs trust, and its text', async (t) => {
  const preset = (args: string[]): ProviderSettings => ({ kind: 'preset', preset: 'claude', args })
  const command: ProviderSettings = {
    kind: 'command',
    plan: ['a', 'b'],
    work: null,
    prompt: 'stdin',
  }
  t.notOk(needsTrust(preset([])))
  t.ok(needsTrust(preset(['-x'])))
  t.ok(needsTrust(command))
  const providers = new Map([
    ['mine', preset([])],
    ['own', command],
  ])
  t.strictSame(foreignProviders({ providers }), ['own'])
  t.equal(trustedText(settings()), null)
  t.equal(trustedText(settings({ providers: new Map([['mine', preset([])]]) })), null)
  t.equal(trustedText(settings({ notify: [{ kind: 'desktop', url: '' }] })), null)
  t.equal(trustedText(settings({ env: ['B', 'A', 'B'] })), '{"env":["A","B"],"providers":{}}')
  t.equal(trustedText(settings({ env: ['A'], cache: [] })), '{"env":["A"],"providers":{}}')
  const text = (plan: string[]) =>
    trustedText(settings({ providers: new Map([['own', { ...command, plan }]]) }))
  t.not(text(['a', 'b']), text(['b', 'a']), 'the order of arguments counts')
  for (const parts of [
    { notify: [{ kind: 'slack', url: 'https://x' }] as const },
    { cache: ['a'] },
    { sandbox: 'none' as const },
    { readingTools: ['a'] },
    { readingCommands: ['a'] },
    { standing: [{ paths: ['a'], commands: [], proof: [] }] },
  ])
    t.ok(trustedText(settings(parts)), JSON.stringify(parts))
  t.strictSame(untrustedSettings({ cache: ['a'] }), {
    cache: null,
    sandbox: 'mounts',
    readingTools: [],
    readingCommands: [],
    standing: [],
  })
  t.strictSame(untrustedSettings({ cache: [] }).cache, [])
  t.equal(
    remoteTargets(
      settings({
        notify: [
          { kind: 'desktop', url: '' },
          { kind: 'ntfy', url: 'x' },
        ],
      }),
    ).length,
    1,
  )
  t.strictSame(variablesIn(['https://', '{A}/x/', '{b_2}?', 'C'].join('$')), ['A', 'b_2'])
})

t.test('what holds the programs of a run, in words', async (t) => {
  const places = { writes: ['a', 'b'], hides: ['c'] }
  const mount = { mode: 'work', guard: 'mount' }
  const rows: [fields: object, text: string | null][] = [
    [{ ...mount, ...places }, 'could write only to: a, b; could not see: c; network: open'],
    [
      { ...mount, ...places, hosts: ['h'], runtime: '1' },
      'could write only to: a, b; could not see: c; on the network only: h (sandbox-runtime 1)',
    ],
    [{ ...mount, writes: ['a'], hosts: [] }, 'could write only to: a; nothing on the network'],
    [mount, 'only the case files are read-only: the programs can do what you can elsewhere'],
    [{ ...mount, mode: 'plan', ...places }, null],
    [
      { mode: 'work', guard: 'comparison', reason: 'no root' },
      'nothing limits the programs: they can do what you can (no root); the case files are compared before and after',
    ],
    [
      { mode: 'plan', guard: 'comparison' },
      'no read-only mounts; files are compared before and after',
    ],
    [
      { mode: 'work', guard: 'comparison', hosts: ['h'] },
      'written everywhere; on the network only: h; no mounts, so the case files are compared before and after',
    ],
  ]
  for (const [fields, text] of rows) t.equal(wallsText(fields), text)
  t.equal(
    expectedWallsText({ guard: 'mount', reason: null, places, hosts: null }),
    'The programs can write only to: a, b; cannot see: c; network: open.',
  )
  t.match(
    expectedWallsText({ guard: 'comparison', reason: null, places: null, hosts: null }),
    /^Nothing limits the programs.*\.$/,
  )
})

t.test('a conversation of which no denying hook was heard', async (t) => {
  const heard = {
    agent: 'claude',
    is_gated: false,
    ended_at: null,
    last_heard_at: 'x',
    prompts: 1,
  } as const
  const rows: [name: string, parts: object, events: string[], isUngated: boolean][] = [
    ['a first prompt', {}, [], false],
    ['a second', { prompts: 2 }, [], true],
    ['a tool', {}, ['tool_call'], true],
    ['a tool, gated', { is_gated: true }, ['tool_call'], false],
    ['a tool, ended', { ended_at: 'x' }, ['tool_call'], false],
    ['never heard of', { last_heard_at: null }, [], true],
    ['of another agent', { agent: 'other' }, [], true],
    ['a plan by MCP', { prompts: 0 }, ['plan_written'], true],
    ['a plan in the conversation', {}, ['plan_written'], false],
  ]
  for (const [name, parts, events, wanted] of rows)
    t.equal(
      isUngated({ ...heard, ...parts } as never, events.map((event) => ({ event })) as never),
      wanted,
      name,
    )
})
