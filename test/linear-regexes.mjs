/**
 * Finds regular expressions in src/ whose time can grow faster than the length of a text. Half of what they read was written
 * by others, and nothing else is answered meanwhile. It does not see those made by `new RegExp`, nor a beginning that a
 * text repeats (`<a[^>]*>`): exclude it from what follows.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'oxc-parser'
import { analyse } from 'scslre'

const SRC = fileURLToPath(new URL('../src', import.meta.url))

/** By its file and a part of the expression: why its text cannot be long, or why it takes linear time. */
const EXCEPTIONS = [
  ['model/usage.ts', '(?:\\d{3})+$', 'the digits of a number'],
  ['web/help/data.ts', '(.+?) *$', 'pages of this package'],
  ['runners/agents/agent-text.ts', '\\sat (?:async )?', 'its parts are bounded, or end at a blank'],
  ['runners/agents/codex/record.ts', 'Rejected', 'of MAX_REJECTION'],
  ['runners/acp/shell-words.ts', '(?<blank>', 'an alternative takes all that another gave up'],
]

const found = []
const used = new Set()
for (const name of readdirSync(SRC, { recursive: true })) {
  const file = name.replaceAll('\\', '/')
  if (!/\.tsx?$/.test(file)) continue
  const text = readFileSync(join(SRC, name), 'utf8')
  const check = ({ regex, start }) => {
    const { reports } = analyse(
      { source: regex.pattern, flags: regex.flags },
      { assumeRejectingSuffix: false },
    )
    if (reports.length === 0) return
    const exception = EXCEPTIONS.find(
      ([where, part]) => where === file && regex.pattern.includes(part),
    )
    if (exception) return used.add(exception)
    const line = text.slice(0, start).split('\n').length
    found.push(`src/${file}:${line}: /${regex.pattern}/ (${reports[0].type})`)
  }
  const visitor = new Visitor({
    Literal(node) {
      if (node.regex) check(node)
    },
  })
  visitor.visit(parseSync(name, text).program)
}
for (const each of EXCEPTIONS) {
  if (!used.has(each))
    found.push(`test/linear-regexes.mjs: no longer needed: ${each[0]}, ${each[1]}`)
}
if (found.length > 0) {
  console.error(`Not linear, see test/linear-regexes.mjs:\n${found.join('\n')}`)
  process.exitCode = 1
}
