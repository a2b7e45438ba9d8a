/** A text that must not be recorded, and the variable it came from. */
export interface Secret {
  name: string
  text: string
}

/** The text that replaces a secret. */
export function markOf(name: string): string {
  return `[redacted ${name}]`
}

/** Shorter values match by chance. */
const MIN_LENGTH = 8
/** The minimum for a value that does not look like a word, if the variable's name is unambiguous. */
const MIN_SHORT = 6
const SURELY_SECRET = /(?:PASS|PASSWORD|PASSWD|PASSPHRASE|PWD|SECRET|TOKEN)S?$/
const NO_WORD = /[^A-Za-z]|[a-z][A-Z]/
/** In a value with several lines, a line of this length is a secret by itself. */
const MIN_LINE = 16
/** A shorter line is one too if it looks like part of a key, such as a key's last line. */
const KEY_LINE = /^(?=.*[A-Za-z])(?=.*[\d=+/])\S+$/
/** Settings files often write the lines of a key as one, with `\n` between them. */
const LINE_END = /\r?\n|(?:\\r)?\\n/

/** `PWD` alone is the current folder; as part of another name it means password. */
const SECRET_WORD =
  /(?:^|_)(?:KEYS?|AUTH|CREDENTIALS?|COOKIES?|PRIVATE|PASSWD|PASS|PAT|PINS?|JWT|BEARER|SEED|SALT|DSN|KUBECONFIG)(?:_|$)|(?:PASS|PASSWORD|PASSPHRASE|SECRET|TOKEN|APIKEY)S?(?:_|$)/
const SECRET_END = /_PWD$|(?:^|_)(?:CONNECTION_STRING|WEBHOOK(?:_UR[IL])?)S?$/
const PATH_LIST =
  /^(?:(?:~|\.{1,2})?(?:\/+[\w.@ -]+){2,}\/*(?::|$))+$|^(?:~|\.{1,2})\/|^[A-Za-z]:[\\/]/
const NUMBER = /^[-+\d.,_:]+$/
const COMMON_WORD =
  /^(?:undefined|disabled|required|optional|production|development|anonymous|automatic|localhost|password|keychain|postgres|unlimited)$/i
const FRAME = /^-----(?:BEGIN|END) [A-Z0-9 ]+-----$/
/** A URL with only a token before the `@`. */
const USER = /\b[a-z][a-z0-9+.-]*:\/\/([^\s:@/]+)@/gi
const CREDENTIALS = /\b[a-z][a-z0-9+.-]*:\/\/([^\s:@/]*):([^\s/]+)@/gi

/** The secrets in an environment: values of variables with a telling name, and passwords in URLs. */
export function secretsIn(environment: NodeJS.ProcessEnv): Secret[] {
  const found = new Map<string, string>()
  for (const name of Object.keys(environment).sort()) {
    const value = (environment[name] ?? '').trim()
    const texts = [...(isSecretName(name) ? valuesOf(name, value) : []), ...passwordsIn(value)]
    for (const text of texts) if (!found.has(text)) found.set(text, name)
  }
  return [...found].map(([text, name]) => ({ name, text }))
}

function isSecretName(name: string): boolean {
  return [SECRET_WORD, SECRET_END].some((secret) => secret.test(upperSnakeCase(name)))
}

/** The name in capitals, with `_` between its words. */
function upperSnakeCase(name: string): string {
  return name.replace(/[^A-Za-z0-9]+/g, '_').toUpperCase()
}

function valuesOf(name: string, value: string): string[] {
  const lines = value.split(LINE_END).map((line) => line.trim())
  const keys = lines.filter((line) => line.length >= MIN_LINE || KEY_LINE.test(line))
  const parts = lines.length > 1 ? keys.filter((line) => !FRAME.test(line)) : []
  const users = [...value.matchAll(USER)].map(([, user = '']) => user)
  const texts = [value, ...parts, ...users].filter((text) => isSecretValue(text))
  const isShort = SURELY_SECRET.test(upperSnakeCase(name)) && NO_WORD.test(value)
  return isShort && isSecretValue(value, MIN_SHORT) ? [value, ...texts] : texts
}

function isSecretValue(value: string, minLength = MIN_LENGTH): boolean {
  const isOther = PATH_LIST.test(value) || NUMBER.test(value) || COMMON_WORD.test(value)
  return value.length >= minLength && !isOther
}

/** A short password can be recognized only by its place in a URL. */
function passwordsIn(value: string): string[] {
  return [...value.matchAll(CREDENTIALS)].flatMap(([, user = '', password = '']) => {
    const plain = decodedUri(password)
    const telling = [password, plain].filter((text) => isSecretValue(text) && text !== user)
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
