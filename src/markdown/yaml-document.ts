import type { Composer, Document } from 'yaml'
import type { ProblemCode } from '../model/problem.ts'
import { yamlPackage } from './yaml-package.ts'

export interface YamlProblem {
  code: ProblemCode
  /** Offset into the source. */
  offset: number
  message: string
}

const MAX_DEPTH = 20
/** The parser's stack contains the document and, at the end, a scalar besides the collections. */
const MAX_STACK = MAX_DEPTH + 2

/**
 * The maximum number of words and signs, as the lexer counts them, without line ends. Each takes
 * some microseconds of the thread that answers requests.
 */
const MAX_LEXEMES = 20_000

const OPTIONS = {
  version: '1.2',
  schema: 'core',
  stringKeys: true,
  uniqueKeys: false, // the package's own check is quadratic: ours is in `yaml-map.ts`
  prettyErrors: false,
  logLevel: 'silent',
} as const

/** Tokens that are allowed beside the one document. */
const AROUND = new Set(['comment', 'newline', 'space', 'byte-order-mark'])

/**
 * Parses the source as one YAML document. The depth is counted on the tokens, because composing a deep document
 * recurses, and a stack overflow during the compilation of a regular expression makes V8 abort the process without a
 * RangeError.
 */
export function yamlDocument(source: string): Document.Parsed | YamlProblem | null {
  const { Composer, Lexer, Parser } = yamlPackage()
  const parser = new Parser()
  const tokens: Parameters<Composer['compose']>[0] extends Iterable<infer T> ? T[] : never = []
  let [documents, lexemes] = [0, 0]
  const take = (found: Iterable<(typeof tokens)[number]>): YamlProblem | null => {
    for (const token of found) {
      if (token.type === 'document') documents++
      else if (token.type === 'directive')
        return bad(token.offset, 'YAML directives are not allowed')
      else if (!AROUND.has(token.type)) {
        return bad('offset' in token ? token.offset : 0, 'only one YAML document is allowed here')
      }
      if (documents > 1) return bad(token.offset, 'only one YAML document is allowed here')
      tokens.push(token)
    }
    return null
  }
  for (const lexeme of new Lexer().lex(source)) {
    const problem = take(parser.next(lexeme))
    if (problem) return problem
    if (parser.stack.length > MAX_STACK) {
      return bad(parser.offset, `more than ${MAX_DEPTH} levels of nesting`)
    }
    if (!/^\r?\n$/.test(lexeme) && ++lexemes > MAX_LEXEMES) {
      return bad(
        parser.offset,
        'too many keys, values and brackets up to here: put long lists below the frontmatter',
      )
    }
  }
  const problem = take(parser.end())
  if (problem) return problem
  const [document] = new Composer(OPTIONS).compose(tokens, true, source.length)
  const first = document?.errors[0] ?? document?.warnings[0]
  const end = source.trimEnd().length // errors about unclosed parts are after the last line
  if (first) return bad(Math.min(first.pos[0], end), first.message.split('\n')[0]!.slice(0, 200))
  return document ?? null
}

function bad(offset: number, message: string): YamlProblem {
  return { code: 'bad_frontmatter', offset, message }
}
