import type { ElementContent, RootContent } from 'hast'
import bash from 'highlight.js/lib/languages/bash'
import c from 'highlight.js/lib/languages/c'
import cpp from 'highlight.js/lib/languages/cpp'
import csharp from 'highlight.js/lib/languages/csharp'
import css from 'highlight.js/lib/languages/css'
import dart from 'highlight.js/lib/languages/dart'
import diff from 'highlight.js/lib/languages/diff'
import dockerfile from 'highlight.js/lib/languages/dockerfile'
import elixir from 'highlight.js/lib/languages/elixir'
import go from 'highlight.js/lib/languages/go'
import graphql from 'highlight.js/lib/languages/graphql'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import kotlin from 'highlight.js/lib/languages/kotlin'
import less from 'highlight.js/lib/languages/less'
import lua from 'highlight.js/lib/languages/lua'
import makefile from 'highlight.js/lib/languages/makefile'
import markdown from 'highlight.js/lib/languages/markdown'
import perl from 'highlight.js/lib/languages/perl'
import php from 'highlight.js/lib/languages/php'
import powershell from 'highlight.js/lib/languages/powershell'
import protobuf from 'highlight.js/lib/languages/protobuf'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import scala from 'highlight.js/lib/languages/scala'
import scss from 'highlight.js/lib/languages/scss'
import shell from 'highlight.js/lib/languages/shell'
import sql from 'highlight.js/lib/languages/sql'
import swift from 'highlight.js/lib/languages/swift'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { createLowlight } from 'lowlight'
import type { Language } from './languages.ts'
import { joinTokens, type Token, type TokenKind } from './tokens.ts'

const lowlight = createLowlight({
  bash,
  c,
  cpp,
  csharp,
  css,
  dart,
  diff,
  dockerfile,
  elixir,
  go,
  graphql,
  ini,
  java,
  javascript,
  json,
  kotlin,
  less,
  lua,
  makefile,
  markdown,
  perl,
  php,
  powershell,
  protobuf,
  python,
  ruby,
  rust,
  scala,
  scss,
  shell,
  sql,
  swift,
  typescript,
  xml,
  yaml,
})

/** The kinds of tokens of the highlighter, by the first part of their class. Others look like plain text. */
const KINDS: Record<string, TokenKind> = {
  keyword: 'keyword',
  literal: 'keyword',
  'selector-tag': 'keyword',
  'template-tag': 'keyword',
  string: 'string',
  regexp: 'string',
  char: 'string',
  link: 'string',
  code: 'string',
  number: 'number',
  symbol: 'number',
  bullet: 'number',
  comment: 'comment',
  quote: 'comment',
  title: 'title',
  section: 'title',
  'selector-id': 'title',
  'selector-class': 'title',
  type: 'type',
  built_in: 'type',
  name: 'type',
  attr: 'attribute',
  attribute: 'attribute',
  property: 'attribute',
  variable: 'attribute',
  'template-variable': 'attribute',
  'selector-attr': 'attribute',
  'selector-pseudo': 'attribute',
  meta: 'meta',
  addition: 'added',
  deletion: 'removed',
}

/**
 * Pure. The tokens of a code, whose texts put together are the code. Null if the highlighter fails or changes a
 * character. Slow on hostile input: only the worker calls it.
 */
export function highlightCode(code: string, language: Language): Token[] | null {
  let tokens: Token[]
  try {
    tokens = []
    flatten(lowlight.highlight(language, code, { prefix: '' }).children, undefined, tokens)
  } catch {
    return null // a grammar that fails must not hide the code
  }
  return joinTokens(tokens) === code ? tokens : null
}

function flatten(
  nodes: readonly (RootContent | ElementContent)[],
  kind: TokenKind | undefined,
  tokens: Token[],
): void {
  for (const node of nodes) {
    if (node.type === 'text') {
      const last = tokens.at(-1)
      if (last && last.kind === kind) last.text += node.value
      else tokens.push(kind ? { text: node.value, kind } : { text: node.value })
    } else if (node.type === 'element') {
      flatten(node.children, kindOf(node.properties.className, kind), tokens)
    }
  }
}

/** Code within a string, such as `${name}`, looks like code again. */
function kindOf(className: unknown, around: TokenKind | undefined): TokenKind | undefined {
  const name = Array.isArray(className) ? String(className[0]) : ''
  return name === 'subst' ? undefined : (KINDS[name] ?? around)
}
