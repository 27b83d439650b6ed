package when

import "sync"

var german = sync.OnceValue(func() *lexicon {
	return newLexicon(
		lexicon{name: "German", dayFirst: true, military: true},
		counted(kNum, 2, "zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn funfzehn sechzehn siebzehn achtzehn neunzehn "+
			"zwanzig einundzwanzig zweiundzwanzig dreiundzwanzig vierundzwanzig funfundzwanzig sechsundzwanzig siebenundzwanzig achtundzwanzig "+
			"neunundzwanzig dreissig einunddreissig"),
		endings(counted(kOrd, 1, "erst zweit dritt viert funft sechst siebt acht neunt zehnt elft zwolft dreizehnt vierzehnt funfzehnt sechzehnt siebzehnt "+
			"achtzehnt neunzehnt zwanzigst einundzwanzigst zweiundzwanzigst dreiundzwanzigst vierundzwanzigst funfundzwanzigst sechsundzwanzigst "+
			"siebenundzwanzigst achtundzwanzigst neunundzwanzigst dreissigst einunddreissigst"), "e en er es em"),
		endings([]entry{
			{kNext, 0, 0, "nachst"},
			{kNext, 0, 0, "naechst"},
			{kThis, 0, 0, "kommend"},
			{kThis, 0, 0, "dies"},
			{kLast, 0, 0, "letzt"},
			{kEvery, 0, 0, "jed"},
			{kOther, 0, 0, "ander"},
			{kHalf, 0, 0, "halb"},
		}, "e en er es em"),
		germanTime, germanWords,
	)
})

// endings adds the endings of German adjectives.
func endings(stems []entry, list string) []entry {
	var entries []entry
	for _, s := range stems {
		for _, e := range counted(0, 0, list) {
			entries = append(entries, entry{s.kind, s.n, s.m, s.list + e.list})
		}
	}
	return entries
}

var germanTime = []entry{
	{kNum, 1, 0, "eins"},
	{kNum, 5, 0, "fuenf"},
	{kNum, 12, 0, "zwoelf"},
	{kNum, 40, 0, "vierzig"},
	{kNum, 45, 0, "funfundvierzig, fuenfundvierzig"},
	{kNum, 50, 0, "funfzig, fuenfzig"},
	{kNum, 60, 0, "sechzig"},
	{kNum, 90, 0, "neunzig"},
	{kA, 1, 0, "ein, eine, einen, einem, einer, eines"},
	{kTenths, 15, 0, "anderthalb, eineinhalb"},
	{kTenths, 25, 0, "zweieinhalb"},
	{kTenths, 35, 0, "dreieinhalb"},
	{kHalfTo, 0, 0, "halb"},
	{kQuarter, 0, 0, "viertel"},
	{kUnit, uSecond, 1, "sekunde, sekunden, sek, s"},
	{kUnit, uMinute, 1, "minute, minuten, min, m"},
	{kUnit, uMinute, 15, "viertelstunde"},
	{kUnit, uMinute, 45, "dreiviertelstunde"},
	{kUnit, uHour, 1, "stunde, stunden, std, h"},
	{kUnit, uDay, 1, "tag, tage, tagen, tages"},
	{kUnit, uWeek, 1, "woche, wochen"},
	{kUnit, uMonth, 1, "monat, monate, monaten, monats"},
	{kUnit, uMonth, 3, "quartal, quartale, quartals"},
	{kUnit, uYear, 1, "jahr, jahre, jahren, jahres"},
	{kWeekday, 0, 0, "sonntag, so"},
	{kWeekday, 1, 0, "montag, mo"},
	{kWeekday, 2, 0, "dienstag, di"},
	{kWeekday, 3, 0, "mittwoch, mi"},
	{kWeekday, 4, 0, "donnerstag, do"},
	{kWeekday, 5, 0, "freitag, fr"},
	{kWeekday, 6, 0, "samstag, sa, sonnabend"},
	{kWeekday, 0, 1, "sonntags"},
	{kWeekday, 1, 1, "montags"},
	{kWeekday, 2, 1, "dienstags"},
	{kWeekday, 3, 1, "mittwochs"},
	{kWeekday, 4, 1, "donnerstags"},
	{kWeekday, 5, 1, "freitags"},
	{kWeekday, 6, 1, "samstags, sonnabends"},
	{kWorkday, 0, 0, "werktag, wochentag, arbeitstag"},
	{kWorkday, 0, 1, "werktags, wochentags, werktage, werktagen, wochentage, wochentagen, arbeitstage, arbeitstagen, unter der woche"},
	{kWeekend, 0, 0, "wochenende"},
	{kWeekend, 0, 1, "wochenenden"},
	{kMonth, 1, 0, "januar, jan, janner, jaenner"},
	{kMonth, 2, 0, "februar, feb"},
	{kMonth, 3, 0, "marz, maerz"},
	{kMonth, 4, 0, "april, apr"},
	{kMonth, 5, 0, "mai"},
	{kMonth, 6, 0, "juni, jun"},
	{kMonth, 7, 0, "juli, jul"},
	{kMonth, 8, 0, "august, aug"},
	{kMonth, 9, 0, "september, sep, sept"},
	{kMonth, 10, 0, "oktober, okt"},
	{kMonth, 11, 0, "november, nov"},
	{kMonth, 12, 0, "dezember, dez"},
	{kShift, 0, 0, "heute"},
	{kShift, 1, 0, "morgen"},
	{kShift, 2, 0, "ubermorgen, uebermorgen"},
	{kShift, -1, 0, "gestern"},
	{kShift, -2, 0, "vorgestern"},
	{kPart, partMorning, 0, "morgen, morgens, fruh, frueh, vormittag, vormittags"},
	{kPart, partNoon, 0, "mittag, mittags"},
	{kPart, partAfternoon, 0, "nachmittag, nachmittags"},
	{kPart, partEvening, 0, "abend, abends"},
	{kPart, partNight, 0, "nacht, nachts"},
	{kPart, partMidnight, 0, "mitternacht"},
}

var germanWords = []entry{
	{kIn, 0, 0, "in, binnen"},
	{kFromNow, 0, 0, "ab jetzt, von jetzt an, spater, spaeter"},
	{kAt, 0, 0, "um"},
	{kOn, 0, 0, "am, an, zum"},
	{kOf, 0, 0, "des, der, vom, von, im, in der, in den, am, in"},
	{kThe, 0, 0, "der, die, das, den, dem, am"},
	{kAnd, 0, 0, "und"},
	{kEvery, 0, 0, "alle, an jedem"},
	{kPast, 0, 0, "nach"},
	{kTo, 0, 0, "vor, bis"},
	{kOclock, 0, 0, "uhr"},
	{kEnd, 0, 0, "ende, am ende"},
	{kStart, 0, 0, "anfang, beginn, am anfang"},
	{kUntil, 0, 0, "bis, bis zum, bis um"},
	{kFrom, 0, 0, "ab, ab dem, von, seit, beginnend, beginnend am"},
	{kFor, 0, 0, "fur, fuer"},
	{kTimes, 0, 0, "mal, male"},
	{kBetween, 0, 0, "zwischen"},
	{kAfter, 0, 0, "nach"},
	{kVague, 0, 0, "etwa, ungefahr, ungefaehr, circa, ca, gegen, so, irgendwann, bald, einige, einigen, paar, ein paar, mehrere"},
	{kHoliday, 0, 0, "weihnachten, heiligabend, silvester, neujahr, ostern, ostersonntag, ostermontag, pfingsten, karfreitag"},
	{kNow, 0, 0, "jetzt, sofort"},
	{kAdverb, uHour, 1, "stundlich, stuendlich"},
	{kAdverb, uDay, 1, "taglich, taeglich"},
	{kAdverb, uWeek, 1, "wochentlich, woechentlich"},
	{kAdverb, uWeek, 2, "vierzehntagig, vierzehntaegig"},
	{kAdverb, uMonth, 1, "monatlich"},
	{kAdverb, uYear, 1, "jahrlich, jaehrlich"},
	{kExcept, 0, 0, "ausser, ausser am"},
	{kOnce, 1, 0, "einmal"},
	{kOnce, 2, 0, "zweimal"},
	{kOnce, 3, 0, "dreimal"},
	{kPer, 0, 0, "pro"},
	{kNoise, 0, 0, "bitte, genau, punkt, jeweils, immer"},
}
