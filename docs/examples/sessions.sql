-- Questions to many sessions at once: scruple query DIR --file sessions.sql

-- What is there?
SELECT session, sessions.host, count(DISTINCT experiment) AS experiments, count(DISTINCT trial) AS trials,
    started, kernel, cpu_model
FROM sessions LEFT JOIN trials USING (session)
GROUP BY ALL ORDER BY started;

-- In which settings do the machines differ?
SELECT setting, count(DISTINCT value) AS values, string_agg(DISTINCT value, ' | ' ORDER BY value) AS seen
FROM settings
GROUP BY ALL HAVING values > 1 ORDER BY setting;

-- What did not complete, and why?
SELECT host, experiment, outcome, reason, count(DISTINCT (session, trial)) AS trials
FROM trials
WHERE outcome <> 'completed'
GROUP BY ALL ORDER BY trials DESC, experiment, reason
LIMIT 20;

-- How many times a thread does a process cost, session by session? One ratio per block, both of whose
-- trials ran within the same minute, then the median of these ratios, as in the report.
WITH blocks AS (
    SELECT session, host, block, ln(
        max(value) FILTER (factor_mechanism = 'fork') / max(value) FILTER (factor_mechanism = 'pthread')
    ) AS log_ratio
    FROM trials
    WHERE experiment = 'create' AND response = 'whole_ns'
        AND treatment LIKE 'descriptors=0 mappings=0 mechanism=% pages=4k placement=same touched=0'
    GROUP BY ALL
)
SELECT session, host, exp(median(log_ratio)) AS ratio, count(DISTINCT block) AS blocks
FROM blocks
WHERE log_ratio IS NOT NULL
GROUP BY ALL ORDER BY session;
