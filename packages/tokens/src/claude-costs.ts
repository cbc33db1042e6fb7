/**
 * What was measured of Claude's tokenizers with `ctok` 1.3.0 (an open reconstruction): whatever stands here is the dearer of
 * the two. Decision record 0016 says how.
 */

/** Words of English and of code that are one token, in small letters. */
export const commonWords: ReadonlySet<string> = new Set(
  (
    "about above after all also am an and any are array as at author await be been before build but by call can case " +
    "char class code com const could data def default define description did do down each else end error every " +
    "example export false file files first following for format free from function get git github had has have he her " +
    "here him his how http https id if import in include index int into io is it its js key know last length let " +
    "license like line little long main make man may me message method module more most much must my name never new " +
    "no node none not now null number object of on one only options or org other our out over own package param path " +
    "public react read require result return run said same see self server set she should so software some source src " +
    "string such test text than that the their them then there these they this time to true two type types under up " +
    "url us use used value values var version very void was we well were what when where which while who will with " +
    "without work would you your"
  ).split(" "),
);

/**
 * What two neighbouring letters of a word cost, in twentieths, in base 36: 27 rows of 27, of the beginning or end and of a to z. Of
 * every word that `o200k_base` has whole, the sum with {@link wholeCosts} is no less than what the word costs.
 */
export const pairCosts: string =
  "zpmnnoplqvslkkvslprllvspkpznq768ni7ifc5099d8v993l8kf4ekdidhb7ghg084hcab2ji6a3p779oaadgam98e059go7e49i9ced6a8" +
  "jaenc6cdpd188fua80hc5fbm5f8k8h85e7ciofc9a9mb3984l8e379kg50g7a7bg0518k560hm6c18di0j8khhf8fhgii9bkcl0hjiczq8d0" +
  "i346e5f4kdf26ag739ga59ne3g9m5322300fc5525005871179z1e6q420sbiaf90ei3e7n05c0dudz0alcb6b96dlhbb80bbhzggejptzf7" +
  "ncnfe9mosg5k6imbi6bhedgrg90i8cad7epie9g6blcclkehg8l950h67254a3e8ehf6q885j93cjeaddpf6d3mcahob7366e0a8c06986c2" +
  "ka9lk8kdlg6racd9e7cf96al0e0mn52rl0z04zzwaz30fpba540z5zi0e58045f7g6e7e3d0j8398k0hjffhbm6dbhfibefi9cfad0bak773" +
  "lamnh9cbag3emidcj0mheeirh8jz99a8b60ydb8159c36973fpo588o62kh1384b606a4aezec1703043j5418245acdc05k25zgd7c0a2cn" +
  "mi95de9zbiz05c7ga0bfbi7ggfzla9bdgndaozflakfezlbafa5zfnq39ia680pn00ebg5o00eb6ha0do";

/** Added to the pairs, by how many other spellings of the word `o200k_base` has whole: the more, the more common it is. */
export const wholeCosts: readonly number[] = [2, -1, -3, -7, -9, -7];

/** The same for a word within another, as `file` and `Name` in `fileName`. */
export const withinCosts: readonly number[] = [40, 36, 26, 19, 16, 5];

/** Signs that are one token; a blank is the mark of a border that they take in, where a space stands. */
export const signTokens: RegExp = new RegExp(
  [
    // Rulers.
    "={16}|#{12}|\\*{12}|-{6}|-{4}|={4}|#{4}|\\*{4}|\\.{4}|_{4}|`{3}|/{3}",
    " (?:&&|=>|\\+=|!=|<<|===|\\|\\||\\(\\)|==|//) ",
    ' (?:\\*/|"""|\\[\\]|},|__|--|}\\);|};|}\\)|</|\\*\\*|\\);|//)',
    '(?:":|",|\',|\\),|\\):|###?|\'\\)|\\],|\\.\\.\\.|\':|\\)\\.|"\\)|\\."|\\(\\)|==|\\*\\*|\\);|//) ',
    "://|\\.\\.\\.|===|\\(\\)[;:).]|\\)\\);|['\"]\\);|></|}\\);|''|\"\"",
    '\\(\\)|\\./|\\([\'"$({[]|\\]\\(|::|[\'"];|\\)\\)|="|\\._|[\'"]\\)|\']|\\][);[]|->|">|\\$\\{|!\\[|\\+\\+|\\|\\|',
    '[\'"][:,]|\\)[;:,.]|\\]\\,|##|\\."|==|}[,;)]|__|--|</|\\*\\*|//',
    ' ["#%&*.:<=>|}\\-] ',
    " [^,;?\\]^'~‘’“”]",
    "[^+/{$@[\\\\_^~‘’“”] ",
    "[^]",
  ].join("|"),
  "g",
);
