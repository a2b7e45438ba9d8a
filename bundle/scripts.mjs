/**
 * Makes scripts of the modules that esbuild wrote: V8 can be given what it made of a script before, which
 * Node 20 does not do for a module. Each becomes a function that `load.cjs` calls.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { basename, resolve } from 'node:path'
import ts from 'typescript'

/** Names that no module has. */
const EXPORTED = '$exported$'
const LOAD = '$load$'
const IMPORT = '$import$'

/** Rewrites all modules of a build in their place. */
export async function makeScripts(root, { outputs }) {
  const files = Object.keys(outputs).filter((path) => path.endsWith('.js'))
  const names = new Set(files.map((file) => `./${basename(file)}`))
  await Promise.all(
    files.map(async (file) => {
      const path = resolve(root, file)
      await writeFile(path, scriptOf(inAscii(await readFile(path, 'utf8')), file, names))
    }),
  )
}

/** A text with another character takes twice the memory. esbuild leaves them in comments. */
function inAscii(text) {
  return text.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function scriptOf(text, file, names) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS)
  const edits = []
  const imports = []
  const exported = new Set()
  const replace = (node, by) => edits.push([node.getStart(), node.getEnd(), by])
  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement)) {
      imports.push(required(statement, names)) // wherever it stands, it comes before all else
      replace(statement, '')
    } else if (ts.isExportDeclaration(statement)) {
      for (const { name, propertyName } of statement.exportClause.elements) {
        exported.add((propertyName ?? name).text)
      }
      replace(statement, given(statement))
    }
  }
  const visit = (node) => {
    const specifier = dynamicImport(node)
    if (names.has(specifier))
      replace(node, `Promise.resolve(${JSON.stringify(specifier)}).then(${LOAD})`)
    else if (isImportCall(node)) replace(node.expression, IMPORT)
    ts.forEachChild(node, visit)
  }
  visit(source)
  checkBindings(source, exported)
  const body = edits
    .sort(([a], [b]) => b - a)
    .reduce((all, [from, to, by]) => all.slice(0, from) + by + all.slice(to), text)
  return `(function (${EXPORTED}, ${LOAD}, require, bundleUrl, ${IMPORT}) { 'use strict'; ${imports.join(' ')} ${body}\n})\n`
}

/** As a `const`: what is imported is quick to reach then, as it is in a module. */
function required({ importClause, moduleSpecifier }, names) {
  const from = moduleSpecifier.getText()
  const isOwn = names.has(moduleSpecifier.text)
  if (!isOwn && !isBuiltin(moduleSpecifier.text)) {
    throw new Error(`${from} is not in the bundle: load it by import() where it is used`)
  }
  const module = `${isOwn ? LOAD : 'require'}(${from})`
  if (!importClause) return `${module};`
  const { name, namedBindings } = importClause
  const all = []
  if (name) all.push(`const ${name.text} = ${module};`)
  if (namedBindings && ts.isNamespaceImport(namedBindings)) {
    all.push(`const ${namedBindings.name.text} = ${module};`)
  } else if (namedBindings) {
    const pairs = namedBindings.elements.map(({ name, propertyName }) =>
      propertyName ? `${propertyName.text}: ${name.text}` : name.text,
    )
    all.push(`const { ${pairs.join(', ')} } = ${module};`)
  }
  return all.join(' ')
}

/** All at the end of a module, which is when a script that loads it goes on: no two load one another. */
function given({ exportClause }) {
  const pairs = exportClause.elements.map(({ name, propertyName }) =>
    propertyName ? `${name.text}: ${propertyName.text}` : name.text,
  )
  return `Object.assign(${EXPORTED}, { ${pairs.join(', ')} });`
}

function isImportCall(node) {
  return ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
}

function dynamicImport(node) {
  return isImportCall(node) && ts.isStringLiteral(node.arguments[0]) ? node.arguments[0].text : null
}

/** Who imported a variable has its value as it was then. */
function checkBindings(source, exported) {
  const { FirstAssignment, LastAssignment } = ts.SyntaxKind
  const variables = new Set(
    source.statements
      .filter(ts.isVariableStatement)
      .flatMap(({ declarationList }) => declarationList.declarations)
      .map(({ name }) => name.getText())
      .filter((name) => exported.has(name)),
  )
  const changed = (node) => {
    if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) {
      const { PlusPlusToken, MinusMinusToken } = ts.SyntaxKind
      return [PlusPlusToken, MinusMinusToken].includes(node.operator) ? node.operand : null
    }
    if (!ts.isBinaryExpression(node)) return null
    const { kind } = node.operatorToken
    return kind >= FirstAssignment && kind <= LastAssignment ? node.left : null
  }
  const visit = (node) => {
    const target = changed(node)
    if (target && ts.isIdentifier(target) && variables.has(target.text)) {
      throw new Error(`${source.fileName} exports ${target.text}, which changes: export a function`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
}
