import t from 'tap'
import { detectTests } from '../../src/runners/project-tests.ts'

t.test('which files say how the tests are run', async (t) => {
  const cases: [files: Record<string, string>, command: string | null][] = [
    [{ 'pyproject.toml': '[tool.black]\nline-length = 100\n# pytest\n' }, null],
    [{ 'pyproject.toml': '[tool.pytest.ini_options]\n' }, 'python3 -m pytest'],
    [{ 'pyproject.toml': '[dependency-groups]\ndev = ["pytest>=8"]\n' }, 'python3 -m pytest'],
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
