import { formsOf } from './secret-forms.ts'

/** A text that must not be written anywhere, and the variable that it came from. */
export interface Secret {
  name: string
  text: string
}

/** What stands in its place. */
export function markOf(name: string): string {
  return `[redacted ${name}]`
}

/** Shorter values are found by chance in any text. */
const MIN_LENGTH = 8
/** What no word of a language looks like may be this short, where the name leaves no doubt. */
const MIN_SHORT = 6
const SURELY_SECRET = /(?:PASS|PASSWORD|PASSWD|PASSPHRASE|PWD|SECRET|TOKEN)S?$/
const NO_WORD = /[^A-Za-z]|[a-z][A-Z]/
/** Of a value of several lines, lines as long as this are secrets by themselves. */
const MIN_LINE = 16
/** And shorter ones that look like part of a key: the last line of one. */
const KEY_LINE = /^(?=.*[A-Za-z])(?=.*[\d=+/])\S+$/
/** In a file of settings the lines of a key are often written as one. */
const LINE_END = /\r?\n|(?:\\r)?\\n/

/** `PWD` alone is the folder, and a folder is no secret in any other name. */
const SECRET_WORD =
  /(?:^|_)(?:KEYS?|AUTH|CREDENTIALS?|COOKIES?|PRIVATE|PASSWD|PASS|PAT|PINS?|JWT|BEARER|SEED|SALT|DSN|KUBECONFIG)(?:_|$)|(?:PASS|PASSWORD|PASSPHRASE|SECRET|TOKEN|APIKEY)S?(?:_|$)/
const SECRET_END = /_PWD$|(?:^|_)(?:CONNECTION_STRING|WEBHOOK(?:_UR[IL])?)S?$/
const PATH_LIST = /^(?:(?:~|\.{1,2})?(?:\/[\w.@ -]+){2,}\/?:?)+$|^(?:~|\.{1,2})\/|^[A-Za-z]:[\\/]/
const NUMBER = /^[-+\d.,_:]+$/
const COMMON_WORD =
  /^(?:undefined|disabled|required|optional|production|development|anonymous|automatic|localhost|password|keychain|postgres|unlimited)$/i
const FRAME = /^-----(?:BEGIN|END) [A-Z0-9 ]+-----$/
/** In an address of no account: a token alone. */
const USER = /\b[a-z][a-z0-9+.-]*:\/\/([^\s:@/]+)@/gi
const CREDENTIALS = /\b[a-z][a-z0-9+.-]*:\/\/([^\s:@/]*):([^\s/]+)@/gi

/**
 * What is secret in an environment, in every form in which it may be printed: the values of
 * variables whose name says so, and the passwords in addresses.
 */
export function secretsIn(environment: NodeJS.ProcessEnv): Secret[] {
  const found = new Map<string, string>()
  for (const name of Object.keys(environment).sort()) {
    const value = (environment[name] ?? '').trim()
    const texts = [...(isSecretName(name) ? valuesOf(name, value) : []), ...passwordsIn(value)]
    for (const text of texts.flatMap(formsOf)) if (!found.has(text)) found.set(text, name)
  }
  return [...found].map(([text, name]) => ({ name, text }))
}

function isSecretName(name: string): boolean {
  return [SECRET_WORD, SECRET_END].some((secret) => secret.test(inWords(name)))
}

/** In capitals, with `_` between the words. */
function inWords(name: string): string {
  return name.replace(/[^A-Za-z0-9]+/g, '_').toUpperCase()
}

function valuesOf(name: string, value: string): string[] {
  const lines = value.split(LINE_END).map((line) => line.trim())
  const keys = lines.filter((line) => line.length >= MIN_LINE || KEY_LINE.test(line))
  const parts = lines.length > 1 ? keys.filter((line) => !FRAME.test(line)) : []
  const users = [...value.matchAll(USER)].map(([, user = '']) => user)
  const texts = [value, ...parts, ...users].filter((text) => isTelling(text))
  const isShort = SURELY_SECRET.test(inWords(name)) && NO_WORD.test(value)
  return isShort && isTelling(value, MIN_SHORT) ? [value, ...texts] : texts
}

function isTelling(value: string, minLength = MIN_LENGTH): boolean {
  const isOther = PATH_LIST.test(value) || NUMBER.test(value) || COMMON_WORD.test(value)
  return value.length >= minLength && !isOther
}

/** A short password is known only by what stands around it. */
function passwordsIn(value: string): string[] {
  return [...value.matchAll(CREDENTIALS)].flatMap(([, user = '', password = '']) => {
    const plain = decodedUri(password)
    const telling = [password, plain].filter((text) => isTelling(text) && text !== user)
    return telling.length > 0 ? telling : [`${user}:${password}@`]
  })
}

function decodedUri(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}
