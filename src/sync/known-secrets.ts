/**
 * Formats of keys and tokens that are known by their beginning or their place. A value that could be something else is
 * not searched for: people stop looking at findings that are none.
 */

/** Each repetition has a limit: a file may be one word. */
type Format = readonly [what: string, format: RegExp]

/** Known by how they begin: after a sign, `_`, an escaped line end (`\n`) or character (`%3D`). */
const BEGINNINGS: readonly Format[] = [
  ['a key of age', /AGE-SECRET-KEY-1[A-Z\d]{58}/],
  ['an access key of AWS', /(?:AKIA|ASIA)[A-Z2-7]{16}\b/],
  ['a token of GitHub', /(?:gh[oprsu]_[A-Za-z\d]{36}|github_pat_\w{60})\w{0,200}/],
  ['a token of GitLab', /gl(?:pat|ptt|dt|rt|ft|soat|agent|cbt|imt|oas)-[\w-]{20,2000}/],
  ['a token of Slack', /xox[a-z](?:\.xox[bp])?-[A-Za-z\d-]{20,2000}|xapp-[A-Za-z\d-]{30,2000}/],
  ['a webhook of Slack', /hooks\.slack\.com\/(?:services|workflows)\/[\w/]{30,2000}/],
  ['a webhook of Discord', /discord(?:app)?\.com\/api\/webhooks\/\d+\/[\w-]{50,2000}/],
  // the number of the account in base64
  [
    'a token of Discord',
    /(?:[MNO][DTjz][AEIMQUYcgk][w-z0-5]){5}[\w-]{3,6}\.[\w-]{6}\.[\w-]{27,38}/,
  ],
  [
    'a key of a model provider',
    /sk-(?:(?:ant-[a-z]+\d*|proj|svcacct|admin|or-v1)-[\w-]{20,2000}|[A-Za-z\d]{32,2000})|gsk_[A-Za-z\d]{40,2000}|xai-[A-Za-z\d]{60,2000}/,
  ],
  ['a key of Google', /(?:AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{40})[\w-]{0,200}/],
  ['a token of npm', /npm_[A-Za-z\d]{36}\b/],
  ['a token of PyPI', /pypi-AgEI[\w-]{50,2000}/],
  ['a key of RubyGems', /rubygems_[\da-f]{48}/],
  ['a token of Docker', /dckr_[op]at_[\w-]{27,2000}/],
  ['a token of Hugging Face', /hf_[A-Za-z\d]{34}\b/],
  ['a token of DigitalOcean', /do[opr]_v1_[a-f\d]{64}\b/],
  ['a token of Atlassian', /ATATT3[\w=-]{100,2000}/],
  ['a token of Linear', /lin_api_[A-Za-z\d]{40}\b/],
  ['a token of Vault', /hv[bs]\.[\w-]{24,2000}/],
  ['a token of Telegram', /\d{8,10}:AA[\w-]{33}\b/],
  ['a key of Azure', /AccountKey=[A-Za-z\d+/]{80,2000}/],
  ['a key of SendGrid', /SG\.[\w-]{16,40}\.[\w-]{32,2000}/],
  ['a key of Stripe', /[rs]k_live_[A-Za-z\d]{16,2000}/],
  ['a token of Square', /sq0[a-z]{3}-[\w-]{22,2000}/],
  ['a token of Shopify', /shp(?:at|ca|pa|ss)_[\da-fA-F]{32}/],
  ['a key of Twilio', /SK[\da-f]{32}\b/],
  // not the key of a cache, such as `build-key-…`
  ['a key of Mailgun', /(?<!\w-)key-[\da-f]{32}\b/],
  ['a token of Figma', /figd_[\w-]{30,2000}/],
  ['a token of Supabase', /sbp_(?:v\d_)?[\da-f]{40}/],
  ['a token of Databricks', /dapi[\da-f]{32}\b/],
  ['a key of Postman', /PMAK-[\da-f]{24}-[\da-f]{34}/],
  ['a token of Doppler', /dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z\d]{40}/],
  ['a key of New Relic', /NRAK-[A-Z\d]{27}/],
  ['a token of Grafana', /glsa_[A-Za-z\d]{32}_[\da-f]{8}|glc_eyJ[A-Za-z\d+/]{30,2000}/],
  ['a secret of a webhook', /whsec_[A-Za-z\d+/=]{24,2000}/],
  ['a signed token (JWT)', /(?<![\w-])eyJ[\w-]{10,2000}\.eyJ[\w-]{10,2000}\.[\w-]{20,2000}/],
  [
    'a password in a URL',
    /[a-z][a-z\d+.-]{1,20}:\/\/[^\s:@/]{0,100}:[^\s:@/]{4,200}@(?!localhost|127\.|\[)[^\s/]/,
  ],
]

/** Known by what is before them. */
const PLACES: readonly Format[] = [
  ['a private key', /-----BEGIN (?:[A-Z\d]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----[^-]{100,9000}/],
  ['a private key', /Private-Lines: \d{1,4}\s{1,2}[A-Za-z\d+/=\r\n]{60,9000}/],
  [
    'a secret key of AWS',
    /(?:[Ss]ecretAccessKey|secret_access_key|SECRET_ACCESS_KEY)['"]?[ \t]?[:=][ \t]?['"]?[A-Za-z\d/+]{40}\b/,
  ],
  ['a token of Terraform', /\.atlasv1\.[\w=-]{60,2000}/],
]

/** What follows these words may be anything, so it must look like a value: the group. */
const VALUES: readonly Format[] = [
  ['a token of npm', /_authToken[ \t]?=[ \t]?['"]?([\w+/.=-]{16,2000})/],
  [
    'a password of netrc',
    /\bmachine\s{1,9}\S{1,200}\s{1,9}login\s{1,9}\S{1,200}\s{1,9}password\s{1,9}(\S{6,200})/,
  ],
  ['a password of Docker', /"auth"\s{0,4}:\s{0,4}"([A-Za-z\d+/]{16,2000}={0,2})"/],
  [
    'a header with a password',
    /(?:[Aa]uthorization|AUTHORIZATION)['"]?\s{0,4}[:=]\s{0,4}['"]?(?:[Bb]asic|[Bb]earer) ([\w+/.=~-]{20,2000})/,
  ],
  // with two numbers, and no words with `-` between: those are names
  [
    'a password or token',
    /(?:[Pp]assw(?:or)?d|PASSW(?:OR)?D|[Ss]ecret|SECRET|[Tt]oken|TOKEN|[Aa]pi[_-]?[Kk]ey|API[_-]?KEY)['"]?[ \t]{0,3}[:=][ \t]{0,3}['"`]?((?=[^\s\d]{0,99}\d[^\s\d]{1,99}\d)(?:(?=[^\sA-Z]{0,99}[A-Z])[\w!@#%^&*+/=~-]{12,200}|[a-z\d]{16,200})(?=["'`\s,;]|$))/,
  ],
]

const START = String.raw`(?:(?<![A-Za-z\d])|(?<=\\[nrt]|%[\dA-Fa-f]{2}))`
const oneOf = (formats: readonly Format[]) => formats.map(([, { source }]) => source).join('|')
const KNOWN = new RegExp(`${START}(?:${oneOf(BEGINNINGS)})|${oneOf(PLACES)}`, 'g')
const VALUE = new RegExp(oneOf(VALUES), 'g')

/** What people write in place of a secret. */
const PLACEHOLDER =
  /EXAMPLE|:(?:pass(?:word|wd)?|secret|token|changeme|\.+|[$<{%[*].*)@.$|:\/\/([^:]+):\1@/i
const NO_VALUE =
  /example|your|here|placeholder|dummy|fake|sample|redacted|change|password|secret|token|0123456|123456789/i
/** With fewer different characters it is `xxxx` behind a known beginning. */
const MIN_CHARACTERS = 10
/** As Markdown has them in a name with `_`. */
const ESCAPES = /\\(?=[_.=~+-])/g

export interface KnownSecret {
  /** Such as `a token of GitHub`. */
  what: string
  text: string
  line: number
}

export function knownSecrets(written: string): KnownSecret[] {
  const text = written.replace(ESCAPES, '')
  const values = matchesOf(text, VALUE, VALUES).filter(
    (each) => isValue(each.value) && knownIn(each.text).length === 0,
  )
  let line = 1
  let at = 0
  return [...knownIn(text), ...values]
    .sort((a, b) => a.index - b.index)
    .map(({ what, text: found, index }) => {
      line += text.slice(at, index).split('\n').length - 1
      at = index
      return { what, text: found, line }
    })
}

function knownIn(text: string) {
  return matchesOf(text, KNOWN, [...BEGINNINGS, ...PLACES]).filter(
    (each) => isVaried(each.text) && !PLACEHOLDER.test(each.text),
  )
}

function matchesOf(text: string, all: RegExp, formats: readonly Format[]) {
  return [...text.matchAll(all)].flatMap(({ index, 0: found }) => {
    for (const [what, format] of formats) {
      const match = format.exec(found)
      if (match?.[0] === found) return [{ what, text: found, value: match[1] ?? found, index }]
    }
    return []
  })
}

function isVaried(text: string): boolean {
  return new Set(text).size >= MIN_CHARACTERS
}

function isValue(text: string): boolean {
  return isVaried(text) && /\d/.test(text) && /[A-Za-z]/.test(text) && !NO_VALUE.test(text)
}
