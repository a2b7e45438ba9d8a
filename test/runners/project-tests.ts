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
    for (const command of ['pytest | tail', 'cd a && pytest', 'pytest --junitxml=a.xml', 'pytests'])
      t.match(await tests(command), { script: command, report: null }, command)
  },
)
