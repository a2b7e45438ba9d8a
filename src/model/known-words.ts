/**
 * The words that the API's description, the commands, the pages and docs/ offer. They are no closed lists: any
 * PascalCase word is an outcome, and any word of the form of `SLUG` a type.
 */

export const KNOWN_OUTCOMES = [
  'ConfirmedCodeBug',
  'ConfirmedConfigBug',
  'ConfirmedDataBug',
  'ConfirmedEnvironmentIssue',
  'ConfirmedOperatorError',
  'ConfirmedHardwareSetupIssue',
  'IntendedBehavior',
  'Duplicate',
  'Unreproducible',
  'NeedsProductDecision',
  'NeedsUserInput',
  'FeatureShipped',
  'WontFix',
] as const

export const KNOWN_CASE_TYPES = [
  'bug',
  'feature',
  'refactor',
  'investigation',
  'epic',
  'greenfield',
] as const

export const KNOWN_PROOF_TYPES = [
  'test-log',
  'trace',
  'diff',
  'screenshot',
  'operator-note',
  'benchmark',
  'log',
] as const
