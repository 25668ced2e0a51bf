/** A phrase that readers outside of the project did not understand, and a hint about what to write in its place. */
export interface Phrase {
  pattern: RegExp
  hint: string
}

/** A space stands for any white space, because a phrase may continue on the next line. */
const phrase = (pattern: string, hint: string): Phrase => ({
  pattern: new RegExp(`(?<![\\w-])(?:${pattern.replaceAll(' ', '\\s+')})(?![\\w-])`, 'gi'),
  hint,
})

export const PHRASES: readonly Phrase[] = [
  phrase('(nobody|anybody|somebody|no one)( else)?', 'name the subject: "no process", "a third party"'),
  phrase('whoever|whomever|whosoever', 'name the subject: "the caller", "a process that"'),
  phrase('whatever|whichever', 'name the thing: "any value", "regardless of the answer"'),
  phrase('he|him|his|himself|she|her|hers', 'name the person or the thing, or write "they", "their"'),
  phrase('of (which|whom)', 'make two sentences'),
  phrase(
    'what (is|was|are|were|has|had|it|they|comes?|came|goes|went|stands|follows|remains)',
    'name the thing: "the open positions"',
  ),
  phrase('(say|says|said|saying) so', 'name what is printed, logged or returned'),
  phrase(
    '(?<!there )(is|are|was|were) none( of (it|them|that|these))?',
    '"does not exist", "is invalid", "is missing"',
  ),
  phrase('beside', '"next to", "in addition to"'),
  phrase('as (it|they) (is|are|was|were)', '"unchanged"'),
  phrase('(go|goes|going|went|gone) by', '"uses", "depends on", "follows"'),
  phrase('by chance', '"at random"'),
  phrase('up to now', '"so far"'),
  phrase('for the rest', '"otherwise"'),
  phrase('for good', '"permanently"'),
  phrase('(is|are|was|were|be) (said|told)', 'name who reports to whom: "the engine receives"'),
  phrase('(is|are|was|were) (not )?to be', '"must", "will"'),
  phrase('anew', '"again"'),
  phrase('on end', '"continuously"'),
  phrase('the like', '"and similar"'),
  phrase('(held|hold|holds|holding) against', '"compared with"'),
  phrase('(sees|saw) to', '"handles"'),
  phrase('so that none of (that|it|this)', 'name what is prevented'),
  phrase('lets? (go|it be)', '"drop", "release"'),
  phrase('borne|bears', '"handled", "survived"'),
  phrase('is there already', '"already exists"'),
  phrase('mend|mends|mended', '"fix"'),
  phrase('begin of', '"beginning of", "start of"'),
  phrase('(lower|higher|larger|smaller|older|newer) one of (both|the two|them)', '"the lower of both"'),
  phrase('(hand|hands|handed|handing) (it |them )?over', '"pass", "deliver", "give"'),
  phrase('(looks?|looked|looking) at again', '"check again", "read again"'),
  phrase('of no use', '"has no effect", "is not needed"'),
  phrase('(let|lets|letting) in', '"accept"'),
  phrase('(at most|at least) (is|are)', 'name the subject first: "the maximum is"'),
  phrase('(give|gives|gave|given) away', '"reveal"'),
  phrase('thereof|whence|hence|thereby|wherein|whereof|thence', 'a plain word'),
]
