package samplelog

// Parts of lines. A text that needs quotes has them already.

// A programme's title has one word of each list.
var (
	titleBegins = []string{
		"大宋", "江南", "民国", "北平", "上海滩", "长安", "敦煌", "草原", "雪域", "金陵", "塞北", "秦淮",
		"老街", "青春", "舌尖上的", "胡同里的", "我们的", "最后的", "1937", "重返", "新", "大漠", "海上", "云中",
	}
	titleEnds = []string{
		"奇案", "往事", "传奇", "风云", "儿女", "人家", "岁月", "恋歌", "谍影", "名捕", "厨神", "医馆",
		"客栈", "班主任", "相亲会", "好声音", "大讲堂", "动物园", "记忆", "少年", "天下", "迷城", "江湖", "春天",
	}
)

// specials are titles that csv has to quote.
var specials = []string{
	`"爸爸,我们去哪儿"`, `"新闻联播,重播"`, `"电影《""英雄""》"`, `"今夜,星光灿烂"`,
}

var channels = []string{
	"CCTV-1 综合", "CCTV-5 体育", "CCTV-6 电影", "CCTV-8 电视剧", "湖南卫视", "浙江卫视", "江苏卫视", "东方卫视",
	"北京卫视", "安徽卫视", "山东卫视", "深圳卫视", "卡酷少儿", "金鹰卡通", "求索纪录", "点播",
}

var products = []string{
	"超清包月", "电影点播 48小时", "体育赛事季票", "少儿动画年包", "卡拉OK 7天", "回看加量包", "家庭影院套餐", "英超直播单场",
	"游戏大厅会员", "教育频道半年包", `"影视,体育双包"`, `"4K 尊享 (含""杜比"")"`,
}

var prices = []string{"2.00", "3.50", "5.00", "9.90", "15.00", "19.90", "29.00", "39.90", "68.00", "99.00", "128.00", "298.00"}

var notes = []string{
	"", "", "", "", "", "", "首单优惠", "自动续费", "客服代订", "积分抵扣 200",
	`"家人要求,请勿再次推荐"`, `"优惠券 ""SEP14"", 减 5 元"`, "Q3 promotion", `"电话确认, 工号 1077"`,
}

// longNotes contain line ends.
var longNotes = []string{
	"\"请周末开通\n不要打电话\"", "\"1. 超清\r\n2. 体育, 第二台盒子\"", "\"地址:\n\n浦东新区 \"\"陆家嘴\"\"\"",
}

var pages = []string{"home", "search", "category/drama", "category/movie", "category/kids", "category/sport", "detail", "vod/play", "account", "history", "favourites", "shop", "shop/checkout", "help"}

var devices = []string{
	"HUAWEI EC6108V9/3.2.1", "HUAWEI EC6106V6/2.9.0", "ZTE B860A/1.4.7", "ZTE B760H/1.1.3", "Skyworth E900/5.0.2", "Fiberhome HG680-J/4.4.2",
	"Hisense IP906H/2.2.8", "Changhong iHO-3000/1.0.19", "iPad/iOS 7.1.2", "Xiaomi MiBOX3/1.3.98",
}

// hours is the relative load of the hours of a day, from midnight.
var hours = [24]int{6, 3, 2, 1, 1, 2, 5, 9, 11, 11, 12, 16, 20, 17, 14, 13, 14, 18, 26, 36, 42, 40, 28, 14}
