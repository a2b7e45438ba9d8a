import t from 'tap'
import { detectTests, findTests } from '../../src/runners/project-tests.ts'

t.test('which files say how the tests are run', async (t) => {
  const cases: [files: Record<string, string>, command: string | null][] = [
    [{ 'pyproject.toml': '[tool.black]\nline-length = 100\n# pytest\n' }, null],
    [{ 'pyproject.toml': '[tool.pytest.ini_options]\n' }, 'python3 -m pytest'],
    [{ 'pyproject.toml': '[dependency-groups]\ndev = ["pytest>=8"]\n' }, 'python3 -m pytest'],
    [{ 'test_slug.py': 'from slug import x\ndef test_a(): assert x\n' }, 'python3 -m pytest'],
    [{ 'test_slug.py': 'import unittest\n' }, 'python3 -m unittest discover'],
    [{ 'slug.py': '', 'latest.py': '' }, null],
    [{ 'pyproject.toml': '[project]\nname = "x"\n' }, 'python3 -m pytest'],
    [{ 'pyproject.toml': '[tool.poetry]\n' }, 'python3 -m pytest'],
    [
      { 'package.json': '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}' },
      null,
    ],
    [{ 'package.json': '{"scripts":{"test":7}}', Makefile: 'check:\n' }, 'make check'],
    [{ 'package.json': '{', 'Cargo.toml': '' }, 'cargo test'],
    [{ Makefile: 'check:\ntest:\n' }, 'make test'],
    [{ 'go.mod': '', Makefile: 'all:\n' }, 'go test ./...'],
    [{ 'package.json': '{"scripts":{"test":"  "}}' }, null],
    [{ 'package.json': '\ufeff{"scripts":{"test":"tap"}}' }, 'npm test --silent'],
    [{ Makefile: 'define HELP\ntest: runs them\nendef\nall:\n\ttrue\n' }, null],
    [{ Makefile: 'lint test: deps\n\ttrue\n' }, 'make test'],
    [{ Makefile: 'test lint:\n\ttrue\n' }, 'make test'],
    [{ Makefile: 'lint \\\n  check:\n\ttrue\n' }, 'make check'],
    [{ Makefile: 'test::\n\ttrue\n' }, 'make test'],
    [{ Makefile: 'test := 1\ntest ::= 2\ncheck:=3\nall:\n\ttest: no\n' }, null],
    [{ Makefile: '.PHONY: test\ntests:\n\ttrue\n' }, null],
    [{ GNUmakefile: 'test:\n\ttrue\n' }, 'make test'],
  ]
  const below = { tests: { 'test_a.py': 'from unittest import TestCase\n' } }
  t.match(await detectTests(t.testdir(below)), {
    command: 'python3 -m unittest discover -s tests',
    source: 'tests/test_a.py',
  })
  t.match(await detectTests(t.testdir({ tests: { 'test_a.py': '' } })), { id: 'pytest' })
  for (const [files, command] of cases) {
    const found = await detectTests(t.testdir(files))
    t.equal(found?.command ?? null, command, JSON.stringify(files))
  }
})

t.test(
  'known runners are asked for a report, and others are judged by their exit code',
  async (t) => {
    const script = (test: string) => ({ 'package.json': JSON.stringify({ scripts: { test } }) })
    const rows: [files: Record<string, string>, script: string, report: string | null][] = [
      [script('vitest run'), 'npm test --silent -- --reporter=tap-flat', 'tap'],
      [script('mocha --recursive'), 'npm test --silent -- --reporter=tap', 'tap'],
      [script('node --test'), 'npm test --silent -- --test-reporter=tap', 'tap'],
      [script('node --test test/'), 'NODE_OPTIONS=--test-reporter=tap npm test --silent', 'tap'],
      [script('jest'), 'npm test --silent', null],
      [script('tsc && vitest run'), 'npm test --silent', null],
      [script('vitest run --reporter=dot'), 'npm test --silent', null],
      [{ 'go.mod': 'module x\n' }, 'go test -json ./...', 'go'],
      [{ 'Cargo.toml': '' }, 'cargo test', null],
      [script('npx vitest'), 'npm test --silent -- --reporter=tap-flat', 'tap'],
      [script('vitest --watch'), 'npm test --silent', null],
      [script('npx ava test'), 'npm test --silent -- --tap', 'tap'],
      [script('ava --tap'), 'npm test --silent', null],
      [script('mocha -R spec'), 'npm test --silent', null],
      [script('node --test --test-reporter tap'), 'npm test --silent', 'tap'],
      [script('tap'), 'npm test --silent', null],
      [script('tap -Rtap'), 'npm test --silent', 'tap'],
      [script('pytest'), 'npm test --silent', null],
    ]
    for (const [files, script, report] of rows) {
      t.match(await detectTests(t.testdir(files)), { script, report }, JSON.stringify(files))
    }
    const tests = (command: string) => findTests(t.testdir({}), { tests: command })
    t.match(await tests('pytest -x tests'), {
      command: 'pytest -x tests',
      script: 'pytest --junitxml=/dev/fd/3 -x tests 3>&1 >&2',
      report: 'junit',
    })
    t.match(await tests('python3 -m pytest'), { script: /^python3 -m pytest --junitxml=/ })
    t.match(await tests('go test -run X ./...'), {
      script: 'go test -json -run X ./...',
      report: 'go',
    })
    const known = t.testdir(script('vitest'))
    t.match(await findTests(known, { tests: 'npm test' }), {
      command: 'npm test',
      source: 'casefile.md',
      script: 'npm test --silent -- --reporter=tap-flat',
    })
    t.match(await findTests(known, { tests: null }), { source: 'package.json' })
    for (const command of ['pytest | tail', 'cd a && pytest', 'pytest --junitxml=a.xml', 'pytests'])
      t.match(await tests(command), { script: command, report: null }, command)
  },
)
