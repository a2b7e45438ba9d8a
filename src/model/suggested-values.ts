/**
 * Suggested values in the API description, commands, pages and docs. The lists are not closed: any PascalCase word is
 * a valid outcome, and any word that matches `SLUG` a valid type.
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
