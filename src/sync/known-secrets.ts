/**
 * Formats of keys and tokens that are known by their beginning or their place. A value that could be something else is
 * not searched for: people stop looking at findings that are none.
 */

const FORMATS: readonly [what: string, format: RegExp][] = [
  ['a private key', /-----BEGIN (?:[A-Z\d]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----[^-]{100,9000}/],
  ['a key of age', /\bAGE-SECRET-KEY-1[A-Z\d]{58}/],
  ['an access key of AWS', /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/],
  [
    'a secret key of AWS',
    /(?:[Ss]ecretAccessKey|secret_access_key|SECRET_ACCESS_KEY)['"]?[ \t]?[:=][ \t]?['"]?[A-Za-z\d/+]{40}\b/,
  ],
  ['a token of GitHub', /\b(?:gh[oprsu]_[A-Za-z\d]{36}|github_pat_\w{60})\w*/],
  ['a token of GitLab', /\bgl(?:pat|ptt|dt|rt|ft|soat|agent|cbt|imt|oas)-[\w-]{20,}/],
  ['a token of Slack', /\bxox[a-z](?:\.xox[bp])?-[A-Za-z\d-]{20,}|\bxapp-[A-Za-z\d-]{30,}/],
  ['a webhook of Slack', /\bhooks\.slack\.com\/(?:services|workflows)\/[\w/]{30,}/],
  ['a webhook of Discord', /\bdiscord(?:app)?\.com\/api\/webhooks\/\d+\/[\w-]{50,}/],
  [
    'a key of a model provider',
    /\bsk-(?:(?:ant-[a-z]+\d*|proj|svcacct|admin|or-v1)-[\w-]{20,}|[A-Za-z\d]{32,})/,
  ],
  ['a key of Google', /\b(?:AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{40})[\w-]*/],
  ['a token of npm', /\bnpm_[A-Za-z\d]{36}\b/],
  ['a token of PyPI', /\bpypi-AgEI[\w-]{50,}/],
  ['a token of Docker', /\bdckr_[op]at_[\w-]{27,}/],
  ['a token of Hugging Face', /\bhf_[A-Za-z]{34}\b/],
  ['a token of DigitalOcean', /\bdo[opr]_v1_[a-f\d]{64}\b/],
  ['a token of Atlassian', /\bATATT3[\w=-]{100,}/],
  ['a token of Linear', /\blin_api_[A-Za-z\d]{40}\b/],
  ['a token of Vault', /\bhv[bs]\.[\w-]{24,}/],
  ['a token of Telegram', /\b\d{8,10}:AA[\w-]{33}\b/],
  ['a key of Azure', /\bAccountKey=[A-Za-z\d+/]{80,}/],
  ['a key of SendGrid', /\bSG\.[\w-]{16,40}\.[\w-]{32,}/],
  ['a key of Stripe', /\b[rs]k_live_[A-Za-z\d]{16,}/],
  ['a secret of a webhook', /\bwhsec_[A-Za-z\d+/=]{24,}/],
  ['a signed token (JWT)', /(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}/],
  [
    'a password in a URL',
    /\b[a-z][a-z\d+.-]{1,20}:\/\/[^\s:@/]{0,100}:[^\s:@/]{4,200}@(?!localhost|127\.|\[)[^\s/]/,
  ],
]
const ANY = new RegExp(FORMATS.map(([, { source }]) => `(${source})`).join('|'), 'g')

/** What people write in place of a secret. */
const PLACEHOLDER =
  /EXAMPLE|:(?:pass(?:word|wd)?|secret|token|changeme|\.+|[$<{%[*].*)@.$|:\/\/([^:]+):\1@/i
/** With fewer different characters it is `xxxx` behind a known beginning. */
const MIN_CHARACTERS = 10

export interface KnownSecret {
  /** Such as `a token of GitHub`. */
  what: string
  text: string
  index: number
}

export function knownSecrets(text: string): KnownSecret[] {
  return [...text.matchAll(ANY)].flatMap(({ index, 0: found, ...groups }) => {
    const which = FORMATS.findIndex((_, at) => groups[at + 1] !== undefined)
    const isReal = new Set(found).size >= MIN_CHARACTERS && !PLACEHOLDER.test(found)
    return isReal ? [{ what: FORMATS[which]![0], text: found, index }] : []
  })
}
