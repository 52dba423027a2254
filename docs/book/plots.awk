# Draws the files of bench/results as a page of HTML: each figure with a bar for each peer, and how
# many times as good as the best peer pirn was at each commit.
#
# Input: for each file at each commit, the oldest first, a line `run NAME COMMIT DATE` and the file,
# with tabs between fields. bench/src/report/data.rs has the format of the files.

BEGIN { FS = "\t" }

# The cases and figures of the newest file of a name are drawn, in the order of that file.
$1 == "run" {
    name = $2; commit = $3; date = $4
    generation[name]++
    machine[name] = ""
    cases[name] = 0
    if (!(name in known)) { known[name] = 1; name_at[++names] = name }
    measured[name] = date ", saved in commit " commit
}
$1 == "head" && $2 == "machine" { machine[name] = $3 }
# The code that was measured; the file was saved in a later commit.
$1 == "head" && $2 == "commit" { commit = $3; measured[name] = date ", code of commit " commit }
$1 == "case" { add($2, $3) }
$1 == "figure" {
    # Some files have no records of cases.
    if (case_seen[name, $2] != generation[name]) add($2, $2)
    key = name SUBSEP $2 SUBSEP $3
    if (seen[key] != generation[name]) {
        seen[key] = generation[name]
        lines[key] = 0
        row_at[name, $2, ++rows[name, $2]] = $3
    }
    i = ++lines[key]
    unit[key] = $4
    peer[key, i] = $5; median[key, i] = $6 + 0; shown[key, i] = $6
    if ($5 == "pirn" && $12 + 0 > 0) {
        # A file may have been saved again without another measurement.
        if (last[key] != commit) points[key]++
        last[key] = commit
        n = points[key]
        ratio[key, n] = $12 + 0
        source[key, n] = date ", commit " commit ", " machine[name]
    }
}

END {
    for (f = 1; f <= names; f++) {
        name = name_at[f]
        is_new = 1
        for (c = 1; c <= cases[name]; c++) {
            part = case_at[name, c]
            for (r = 1; r <= rows[name, part]; r++) {
                if (is_new) {
                    printf "<h2 id=\"%s\">%s</h2>\n", escaped(name), escaped(name)
                    printf "<p>%s, %s.</p>\n", escaped(measured[name]), escaped(machine[name])
                    is_new = 0
                }
                if (r == 1) {
                    printf "<h3 id=\"%s-%s\">%s</h3>\n", escaped(name), escaped(part), escaped(title[name, part])
                }
                figure(name SUBSEP part SUBSEP row_at[name, part, r], row_at[name, part, r])
                figures++
            }
        }
    }
    if (figures == 0) { print "plots: no figures in bench/results" > "/dev/stderr"; exit 1 }
}

function add(part, words) {
    case_seen[name, part] = generation[name]
    case_at[name, ++cases[name]] = part
    title[name, part] = words
    rows[name, part] = 0
}

function figure(key, row,    i, n, most, more, better) {
    n = lines[key]
    most = 0
    for (i = 1; i <= n; i++) if (median[key, i] > most) most = median[key, i]
    # The best one comes first.
    more = (median[key, 1] > median[key, n])
    better = ""
    if (median[key, 1] < median[key, n]) better = ", less is better"
    if (more) better = ", more is better"
    printf "<figure>\n<figcaption>%s%s%s</figcaption>\n<table>\n", escaped(row), (unit[key] == "-" ? "" : " (" escaped(unit[key]) ")"), better
    for (i = 1; i <= n; i++) {
        printf "<tr%s><th>%s</th><td>%s</td>", (peer[key, i] == "pirn" ? " class=\"own\"" : ""), escaped(peer[key, i]), escaped(shown[key, i])
        printf "<td><div style=\"width:%.1f%%\"></div></td></tr>\n", (most > 0 ? 100 * median[key, i] / most : 0)
    }
    print "</table>"
    if (points[key] > 1 && better != "") history(key, more)
    print "</figure>"
}

# A line through the ratios, from the oldest on the left; the dashed one is at 1.
function history(key, more,    i, n, good, least, most, x, y, path, dots) {
    n = points[key]
    least = most = 1
    for (i = 1; i <= n; i++) {
        good[i] = (more ? ratio[key, i] : 1 / ratio[key, i])
        if (good[i] < least) least = good[i]
        if (good[i] > most) most = good[i]
    }
    if (most == least) { least = 0.9; most = 1.1 }
    path = ""; dots = ""
    for (i = 1; i <= n; i++) {
        x = 8 + 304 * (i - 1) / (n - 1)
        y = 8 + 44 * (most - good[i]) / (most - least)
        path = path sprintf("%s%.1f %.1f", (i == 1 ? "M" : "L"), x, y)
        dots = dots sprintf("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>%.2f: %s</title></circle>", x, y, good[i], escaped(source[key, i]))
    }
    y = 8 + 44 * (most - 1) / (most - least)
    printf "<svg viewBox=\"0 0 320 60\" role=\"img\" aria-label=\"pirn by commit\"><path class=\"one\" d=\"M0 %.1fH320\"/><path d=\"%s\"/>%s</svg>\n", y, path, dots
    printf "<p>Times as good as the best peer: first %.2f, now %.2f</p>\n", good[1], good[n]
}

function escaped(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    gsub(/"/, "\\&quot;", text)
    return text
}
