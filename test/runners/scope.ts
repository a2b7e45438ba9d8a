import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import t from 'tap'
import type { PlanScope } from '../../src/model/scope.ts'
import { CLAUDE_TOOLS } from '../../src/runners/agents/claude/tools.ts'
import { KNOWN_AGENTS } from '../../src/runners/agents/registry.ts'
import { callCheck } from '../../src/runners/call-check.ts'
import type { WorkRequest } from '../../src/runners/contract.ts'
import { noSandbox } from '../../src/runners/enclosure/sandbox.ts'
import { isPathInScope, outsideScope } from '../../src/runners/outside-scope.ts'
import { isLong } from '../fixtures/full.ts'
import { randomFrom } from '../fixtures/random.ts'

const isCommandInScope = async (scope: PlanScope, command: string) =>
  (await outsideScope(scope, { command, workdir: '/' })) === null

const ALL = { paths: null, commands: null }
const SCOPE = {
  paths: ['src/**', 'docs', 'lib/', '*.md', './test/{a,b}/*.ts'],
  commands: ['npm test', 'git diff', 'git commit -m "a b"'],
}

t.test('paths are in scope by glob', async (t) => {
  const inside = [
    'src/a',
    'src/.hidden/.b',
    './src/a/../b',
    'docs',
    'docs/a/b',
    'lib/a',
    'x.md',
    'test/a/x.ts',
  ]
  const outside = [
    'src',
    'src/../x',
    '../src/a',
    '/src/a',
    '.',
    'x/y.md',
    'test/c/x.ts',
    'Src/a',
    'docs2',
    'libs/a',
  ]
  for (const path of inside) t.ok(isPathInScope(SCOPE, path), path)
  for (const path of outside) t.notOk(isPathInScope(SCOPE, path), path)
  t.ok(isPathInScope(ALL, 'anything'))
  for (const path of ['.git/hooks/x', 'src/.GIT/x', '.git'])
    t.notOk(isPathInScope({ paths: ['**'], commands: null }, path), path)
  t.ok(isPathInScope({ paths: ['**'], commands: null }, '.gitignore'))
  t.ok(isPathInScope({ paths: ['.'], commands: null }, 'a/b'))
  t.notOk(isPathInScope({ paths: [], commands: null }, 'a'))
  t.notOk(isPathInScope({ paths: ['+(a)', '#b', '!c'], commands: null }, 'a'), 'no other syntax')
})

t.test('every simple command begins with the words of an allowed one', async (t) => {
  const allowed = [
    'npm test',
    'npm  test -- --x',
    'npm "test"',
    'npm test | git diff',
    'npm test && git diff; npm test || git diff &',
    'npm test\ngit diff',
    'npm test \\\n  --x',
    'npm test # rm -rf .',
    '(npm test)',
    'npm test "a; b && c" \'$(rm)\'',
    'npm test $(git diff)',
    'npm test `git diff`',
    'npm test 2>&1 >/dev/null',
    'npm test > src/out.txt',
    "git commit -m 'a b' --amend",
    "bash -lc 'npm test'",
    "dash -c 'npm test'",
    '/bin/zsh -c "npm test"',
    'npm test &> src/out',
    `sh -c "npm test; sh -c 'git diff'"`,
  ]
  const denied = [
    'npm',
    'npm testx',
    'npm run test',
    'rm -rf .',
    'npm test && rm -rf .',
    'npm test; rm x',
    'npm test | rm x',
    'npm test & rm x',
    'npm test\nrm x',
    'npm test\r#; rm x',
    'npm test\f#; rm x',
    'npm test $(rm x)',
    'npm test "$(rm x)"',
    'npm test `rm x`',
    'npm test "`rm x`"',
    'npm test $(npm test ")" ; rm -rf . ; npm test "")',
    'npm test $((rm x) )',
    'npm test $(echo $(echo $(echo $(rm x))))',
    'git diff <(rm x)',
    'npm test > >(rm x)',
    `npm test $'a\\' '; rm x; ' ' '`,
    `npm test 'a`,
    'npm test "a',
    'npm test &> x rm y',
    `npm test '\\'' ; rm x ; npm test \\'`,
    'npm test <<EOF\nrm x\nEOF',
    'echo "cat <<EOF"\nrm x\nEOF',
    'A=1 npm test',
    'env npm test',
    'cd src && npm test',
    'npm test() { rm x; }; npm test',
    '{ npm test; }',
    'if npm test; then git diff; fi',
    '$(npm test)',
    "bash -c 'npm test; rm x'",
    'bash -c "npm test $X"',
    'bash -c "npm test" x',
    'bash script.sh',
    'eval npm test',
    '> src/a',
    'git commit -m a b',
    '',
  ]
  for (const command of allowed) t.ok(await isCommandInScope(SCOPE, command), command)
  for (const command of denied) {
    // nothing to run is nothing outside
    t.equal(await isCommandInScope(SCOPE, command), command === '', command)
  }
  t.ok(await isCommandInScope(ALL, 'rm -rf . <<EOF'))
  t.notOk(await isCommandInScope({ paths: null, commands: [] }, 'ls'))
})

t.test('real shells run nothing but what was allowed', async (t) => {
  const pieces =
    " §  § ok § bad §bad§; bad§'§\"§$(§)§`§;§&§|§\n§#§\\§$'§<§>§&>§>&§<(§{§}§(§((§${§!§=§sh -c §<<§\nE\n§E§\r§1§\\'§\\\"§&&§;;".split(
      '§',
    )
  const random = randomFrom(7)
  const commands: string[] = []
  while (commands.length < (isLong ? 600 : 80)) {
    const words = Array.from(
      { length: 3 + random() * 10 },
      () => pieces[(random() * pieces.length) | 0],
    )
    const command = `ok ${words.join('')}`
    const isAllowed = await isCommandInScope({ paths: null, commands: ['ok'] }, command)
    if (isAllowed && command.includes('bad')) commands.push(command)
  }
  const folder = t.testdir({})
  const isRun = 'ok() { :; }; bad() { echo "$c" >> bad-ran; }; sh() { eval "$2"; }; PATH=/none'
  const script = `for c; do ( ${isRun}; eval "$c" ) <&- >/dev/null 2>&1; done; exit 0`
  for (const shell of isLong ? ['sh', 'bash'] : ['bash']) {
    const ran = () => existsSync(`${folder}/bad-ran`)
    execFileSync(shell, ['-c', script, shell, ...commands], { cwd: folder })
    t.notOk(ran() && readFileSync(`${folder}/bad-ran`, 'utf8'), shell)
    execFileSync(shell, ['-c', script, shell, 'ok; bad'], { cwd: folder })
    t.ok(ran(), 'what is not allowed would have shown')
    rmSync(`${folder}/bad-ran`)
  }
})

t.test('a redirection writes inside the scope only', async (t) => {
  const top = realpathSync(
    t.testdir({
      app: {
        src: {
          sub: {},
          out: t.fixture('symlink', '../../out/deep'),
          up: t.fixture('symlink', '..'),
          in: t.fixture('symlink', '../lib/deep'),
          new: t.fixture('symlink', '../newtop'),
        },
        lib: { deep: {} },
      },
      out: { deep: {} },
    }),
  )
  const scope = { paths: ['src/**'], commands: null }
  const at = (command: string, folder = '.') =>
    outsideScope(scope, { command, workdir: `${top}/app`, folder })
  const inside = [
    'node x > src/y 2>&1 < other',
    `node x > ${top}/app/src/y 2> /dev/null`,
    'cd src && node x > y',
    'cd src; node x > sub/../y',
    `cd ${top}/app/src && node x > y`,
    'cd other; ls',
    'node x > src/sub/{} 2> "src/$"',
    'node x <<E > other', // too complex; the evidence will show it
  ]
  for (const command of inside) t.equal(await at(command), null, command)
  t.equal(await at('node x > y', 'src'), null)
  for (const file of ['/dev/null', '/dev/tty', '/dev/stdout', '/dev/stderr', '/dev/fd/3'])
    t.equal(await at(`node x > ${file}`), null, file)
  const outside: [command: string, file: string][] = [
    ['node x >> other', 'other'],
    [`node x > ${top}/app/other`, 'other'],
    ['node x >& src/../other', 'other'],
    [`cd src && node x > ${top}/app/y`, 'y'],
    ['cd src && node x > ../y', 'y'],
    ['node x > ..hidden', '..hidden'],
    [`node x > ${top}/app2/y`, `${top}/app2/y`],
    ['node x > /tmp/log', '/tmp/log'],
    ['node x > ../src/y', '../src/y'],
    ['node x > src2/y', 'src2/y'],
    ['bash -c "node x" > other', 'other'],
    ['(node x) > other', 'other'],
    ['node "$(x)" > other', 'other'],
    ['node x > 1', '1'],
    ['node x > src/up/y', 'y'],
    ['node x > src/new', 'newtop'],
    ['cd src/up && node x > y', 'y'],
    ['node x > src/out/y', 'src/out/y'],
    ['node x > src/out/../y', 'src/out/../y'],
    ['node x > .git/hooks/x', '.git/hooks/x'],
  ]
  for (const [command, file] of outside) {
    const said = await at(command)
    t.equal(said?.split(', which is outside the scope')[0], `it writes ${file}`, command)
  }
  t.match(await at('node x > ../y', 'src'), /^it writes y, which is/)
  const uncertain = [
    'pushd src && cd .. && node x > src/y',
    'popd && node x > src/y',
    'cd missing; node x > src/y',
    '(cd src); node x > y',
    'true; cd src; node x > y',
    'cd src | node x > y',
    'cd src & node x > y',
    'command cd src; node x > y',
    'eval "cd .."; node x > src/y',
    'cd src/out/..; node x > y',
    'cd src/in/..; node x > y',
    ...['$(x)', '`x`', '$HOME', '"$HOME"', '{a,../../b}', '*', '?'].map(
      (word) => `node x > src/${word}`,
    ),
    'node x > ~/y',
    'node x > =y',
  ]
  for (const command of uncertain) t.match(await at(command), /, which may be outside the/, command)
})

t.test('an allowed command runs in the working folder', async (t) => {
  const top = realpathSync(
    t.testdir({ app: { src: { out: t.fixture('symlink', '../../out') } }, out: {} }),
  )
  const scope = { paths: null, commands: ['npm test', 'cd'] }
  const reads = ({ words }: { words: { text: string }[] }) =>
    ['cd', 'pushd', 'command', 'ls'].includes(words[0]!.text)
  const at = (command: string, folder = '.') =>
    outsideScope(scope, { command, workdir: `${top}/app`, folder, reads })
  for (const command of ['cd src && npm test', `cd ${top}/app; npm test`, 'cd src && cd .. && ls'])
    t.equal(await at(command), null, command)
  t.equal(await at(`cd ${top}/app && npm test`, '..'), null)
  t.equal(await at('ls', '..'), null, 'it may read')
  for (const command of [
    'cd ..; npm test',
    'cd src/out && npm test',
    'cd src/out/.. && npm test',
    'cd src; cd ../..; npm test',
    'ls; cd src; cd ..; npm test',
    'command cd ..; npm test',
    'pushd ..; npm test',
    'pushd +1; npm test',
    'cd; npm test',
    "cd ''; npm test",
    'do cd ..; npm test',
  ])
    t.match(await at(command), /outside the scope/, command)
  t.match(
    await at('npm test', '..'),
    /^"npm test", outside the working folder, is outside the scope/,
  )
})

t.test('the reason names what is outside and what is allowed', async (t) => {
  const command = (scope: PlanScope, text: string) =>
    outsideScope(scope, { command: text, workdir: '/srv/app' })
  t.equal(
    await outsideScope({ paths: ['src/**', 'docs'], commands: null }, { path: 'package.json' }),
    'package.json is outside the scope of the plan (paths: src/**, docs)',
  )
  t.equal(
    await command({ paths: null, commands: ['npm test'] }, 'npm test && npm i'),
    '"npm i" is outside the scope of the plan (commands: npm test)',
  )
  t.match(await command({ paths: null, commands: [] }, 'ls <<E'), /too complex .*none/)
  const many = (count: number) => Array.from({ length: count }, (_, at) => `p${at}`)
  const reason = (count: number) =>
    outsideScope({ paths: many(count), commands: null }, { path: 'x' })
  t.match(await reason(5), /\(paths: p0, p1, p2, p3, p4\)$/)
  t.match(await reason(6), /p4 and 1 more\)$/)
  t.match(await command({ paths: null, commands: ['ls'] }, '> src/a'), /^"a redirection wit/)
  t.equal(await outsideScope(ALL, { path: '../x' }), null)
  t.equal(await command(ALL, 'rm -rf .'), null)
})

t.test(
  'an agent that is started asks before each call, where the walls do not hold the plan',
  async (t) => {
    const top = realpathSync(t.testdir({ work: { src: {} }, run: {} }))
    const checked = (plan: string, kind: 'none' | 'mount', isStanding = false) => {
      const sandbox = { ...noSandbox(), kind }
      const agent = { env: {}, folder: `${top}/run`, sandbox }
      const request = { plan, isStanding, workdir: `${top}/work`, agent } as unknown as WorkRequest
      const tools = { ...CLAUDE_TOOLS, edit: [...CLAUDE_TOOLS.edit!, 'apply_patch'] }
      return callCheck(request, { tools, deny: (reason) => ({ reason }) })
    }
    t.equal(await checked('1. Do it.', 'mount'), null)
    t.type(await checked('1. Do it.', 'none'), 'string')
    const plan = '1. Do it.\n\n## Scope\n\n- paths: src/**\n- commands: npm test\n'
    let command = (await checked(plan, 'mount'))!
    const reason = (tool_name: string, tool_input: object) => {
      const input = JSON.stringify({ tool_name, tool_input })
      const said = execFileSync('/bin/sh', ['-c', command], { input, encoding: 'utf8' })
      return said === '' ? null : JSON.parse(said).reason
    }
    t.equal(reason('Write', { file_path: [top, 'work/src/a.ts'].join('/') }), null)
    t.equal(reason('Read', { file_path: 'test/a.ts' }), null)
    t.equal(reason('Bash', { command: 'cat src/a.ts' }), null, 'it may read')
    t.match(
      reason('Write', { file_path: 'test/a.ts' }),
      /^Casefile: test\/a.ts is outside the scope/,
    )
    t.match(reason('Bash', { command: 'rm src/a.ts' }), /"rm src\/a.ts" is outside the scope/)
    const patch = '*** Begin Patch\n*** Add File: b.ts\n+\n*** End Patch'
    t.match(reason('apply_patch', { command: patch }), /b.ts is outside the scope/)
    t.equal(reason('Edit', { file_path: '/etc/x' }), null, 'the mounts hold that')
    command = (await checked('1. Do it.', 'none'))!
    t.match(reason('Edit', { file_path: '/etc/x' }), /outside the working folder/)
    t.match(reason('Unknown', { text: 'x' }), /names no path/)
    const intent =
      '---\npaths: [src/**, "*.md"]\ncommands: [npm test]\nproof: ["true"]\n---\n\nDo it.\n'
    for (const kind of ['none', 'mount'] as const) {
      command = (await checked(intent, kind, true))!
      t.equal(reason('Bash', { command: 'ls src && npm test; true' }), null)
      const hidden = reason('Write', { file_path: 'src/.envrc' })
      t.match(hidden, /outside the scope .*never hidden files/)
      t.match(reason('Bash', { command: 'npm test x' }), /outside the standing intent/)
    }
    for (const { id, callHook } of KNOWN_AGENTS) {
      const env = { OPENCODE_CONFIG_CONTENT: '{ /* mine */ "plugin": ["x"], "lsp": true }' }
      const {
        args = [],
        files = {},
        ...start
      } = await callHook!.start(command, { folder: top, env })
      const given = [...args, ...Object.values(files)].join('\n')
      t.ok(given.includes(JSON.stringify(command).slice(1, -1)), id)
      if (id === 'opencode')
        t.match(JSON.parse(start.env!.OPENCODE_CONFIG_CONTENT!), {
          plugin: ['x', /js$/],
          lsp: true,
        })
    }
    rmSync(`${top}/run/allowed.json`)
    t.match(reason('Read', { file_path: 'src/a.ts' }), /could not check/, 'it fails closed')
  },
)
